#pragma once

#include <optional>
#include <string>
#include <utility>

namespace bench {

/// A value, or the sentence that says why there is none.
template <class T>
struct Result {
    Result(T result) : value(std::move(result)) {}
    static Result failed(std::string why) {
        Result result;
        result.error = std::move(why);
        return result;
    }
    explicit operator bool() const { return value.has_value(); }
    T* operator->() { return &*value; }
    T& operator*() { return *value; }

    std::optional<T> value;
    std::string error;

  private:
    Result() = default;
};

}  // namespace bench
