#include "client/response.hpp"

#include <strings.h>

#include <algorithm>
#include <stdexcept>

namespace client {
namespace {

[[noreturn]] void reject(const std::string& what, std::string_view where) {
    throw std::runtime_error("malformed response, " + what + ": " + std::string(where));
}

bool same_name(std::string_view left, std::string_view right) {
    return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string::npos;
    });
}

/// The next line, without its CRLF; control characters are not allowed in it.
std::string_view take_line(std::string_view& head) {
    const auto end = head.find("\r\n");
    const auto line = head.substr(0, end);
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < 32 || c == 127; })) {
        reject("a control character in a line", line);
    }
    head.remove_prefix(end + 2);
    return line;
}

Response parse_head(std::string_view head) {
    Response response;
    const auto status = take_line(head);
    if (status.size() < 13 || !status.starts_with("HTTP/1.") || status[8] != ' ' ||
        !all_digits(status.substr(9, 3)) || status[12] != ' ') {
        reject("the status line", status);
    }
    response.version = status.substr(0, 8);
    response.status = std::stoi(std::string(status.substr(9, 3)));
    while (!head.empty()) {
        const auto line = take_line(head);
        const auto colon = line.find(": ");
        if (colon == line.npos || !is_token(line.substr(0, colon)) || line.back() == ' ') {
            reject("a field", line);
        }
        response.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    return response;
}

std::size_t body_bytes(const Response& response) {
    const auto length = response.field("Content-Length");
    if (response.field("Transfer-Encoding")) {
        reject("a transfer coding", *response.field("Transfer-Encoding"));
    }
    if (response.status / 100 == 1) {
        return 0;
    }
    if (!length || !all_digits(*length)) {
        reject("Content-Length", length.value_or("missing"));
    }
    return std::stoul(*length);
}

}  // namespace

std::optional<std::string> Response::field(std::string_view name) const {
    std::optional<std::string> found;
    for (const auto& [field_name, value] : fields) {
        if (same_name(field_name, name)) {
            if (found) {
                reject("a repeated field", name);
            }
            found = value;
        }
    }
    return found;
}

std::optional<Response> take_response(std::string& bytes, Body body) {
    const auto end = bytes.find("\r\n\r\n");
    if (end == bytes.npos) {
        return std::nullopt;
    }
    const auto head_bytes = end + 4;
    Response response = parse_head(std::string_view(bytes).substr(0, end + 2));
    const auto announced = body_bytes(response);
    const auto following = body == Body::expected ? announced : 0;
    if (bytes.size() < head_bytes + following) {
        return std::nullopt;
    }
    response.body = bytes.substr(head_bytes, following);
    bytes.erase(0, head_bytes + following);
    return response;
}

}  // namespace client
