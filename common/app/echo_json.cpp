#include "common/app/echo_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace common::app {
namespace {

using Json = nlohmann::json;

/// Takes the two members as the parser meets them, so that no document is built in memory.
class EchoReader final : public nlohmann::json_sax<Json> {
  public:
    bool null() override { return value(Kind::other); }
    bool boolean(bool) override { return value(Kind::other); }
    bool number_integer(number_integer_t number) override {
        number_ = number;
        return value(Kind::integer);
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (number > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return value(Kind::too_large);
        }
        number_ = static_cast<std::int64_t>(number);
        return value(Kind::integer);
    }
    bool number_float(number_float_t, const string_t& digits) override {
        // The parser hands an integer that fits no 64 bits over as a float, with its own digits.
        const bool integer = digits.find_first_of(".eE") == string_t::npos;
        return value(integer ? Kind::too_large : Kind::other);
    }
    bool string(string_t& text) override {
        text_ = &text;
        return value(Kind::string);
    }
    bool binary(binary_t&) override { return value(Kind::other); }
    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (depth_ == 1) {
            member_ = name == "id" ? Member::id : name == "name" ? Member::name : Member::none;
        }
        return true;
    }
    bool parse_error(std::size_t byte, const std::string&,
                     const nlohmann::detail::exception& error) override {
        // The library tells the two apart only by its message.
        const bool utf8 = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
        wrong_ = std::string("the body is not valid ") + (utf8 ? "UTF-8" : "JSON") + " at byte " +
                 std::to_string(byte);
        return false;
    }

    std::variant<Echo, std::string> result() && {
        if (!wrong_.empty()) {
            return std::move(wrong_);
        }
        if (!object_) {
            return "the body must be a JSON object";
        }
        switch (id_) {
            case Kind::missing:
                return "member id is missing";
            case Kind::too_large:
                return "member id must fit a signed 64-bit integer";
            case Kind::integer:
                break;
            default:
                return "member id must be an integer";
        }
        switch (name_) {
            case Kind::missing:
                return "member name is missing";
            case Kind::string:
                break;
            default:
                return "member name must be a string";
        }
        return std::move(echo_);
    }

  private:
    enum class Kind { missing, integer, too_large, string, other };
    enum class Member { none, id, name };

    bool value(Kind kind) {
        if (depth_ == 1 && object_) {
            take(kind);
        }
        return true;
    }
    void take(Kind kind) {
        if (member_ == Member::id) {
            id_ = kind;
            echo_.id = number_;
        } else if (member_ == Member::name) {
            name_ = kind;
            if (kind == Kind::string) {
                echo_.name = std::move(*text_);
            }
        }
    }
    bool open(bool object) {
        value(Kind::other);
        if (depth_++ == 0) {
            object_ = object;
        }
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    Echo echo_;
    std::string wrong_;
    std::int64_t number_ = 0;
    std::string* text_ = nullptr;
    Kind id_ = Kind::missing;
    Kind name_ = Kind::missing;
    Member member_ = Member::none;
    std::size_t depth_ = 0;
    bool object_ = false;
};

}  // namespace

std::variant<Echo, std::string> parse_echo(std::string_view json) {
    EchoReader reader;
    Json::sax_parse(json.begin(), json.end(), &reader);
    return std::move(reader).result();
}

}  // namespace common::app
