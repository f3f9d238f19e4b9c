#include "plugins/bus-redis/lib/resp.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace svc::bus_redis {

namespace {

constexpr std::size_t longest_line = 1024;
constexpr std::int64_t most_elements = 16, longest_bulk = 512 << 20;  // Redis' own bound

[[noreturn]] void not_resp() { throw std::runtime_error("what it says is not RESP"); }

std::int64_t number(std::string_view text) {
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) not_resp();
    return out;
}

}  // namespace

std::string command_of(std::initializer_list<std::string_view> words) {
    std::string out = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto word : words)
        ((out += "$" + std::to_string(word.size()) + "\r\n") += word) += "\r\n";
    return out;
}

std::optional<Reply> ReplyReader::next() {
    for (;;) {
        if (has_begun_ && elements_left_ == 0 && !bulk_left_) {
            has_begun_ = false;
            return std::exchange(reply_, {});
        }
        if (bulk_left_ ? !read_bulk() : !step()) return std::nullopt;
    }
}

/// Reads one line; false when it has not come yet.
bool ReplyReader::step() {
    const auto text = line();
    if (!text) return false;
    if (text->empty()) not_resp();
    const char type = text->front();
    const auto rest = text->substr(1);
    if (!has_begun_) {
        has_begun_ = true;
        elements_left_ = 1;
        if (type == '*') {
            const auto count = number(rest);
            if (count < 0 || count > most_elements) not_resp();
            reply_.kind = Reply::Kind::array;
            elements_left_ = static_cast<std::size_t>(count);
            return true;
        }
    }
    begin_element(type, rest);
    return true;
}

void ReplyReader::begin_element(char type, const std::string& text) {
    switch (type) {
        case '+': return add(Reply::Kind::status, text);
        case '-': return add(Reply::Kind::error, text);
        case ':': return add(Reply::Kind::integer, text);
        case '$': break;
        default: not_resp();
    }
    const auto length = number(text);
    if (length > longest_bulk || length < -1) not_resp();
    if (length < 0) return add(Reply::Kind::bulk, {});
    bulk_left_ = static_cast<std::size_t>(length) + 2;
    is_kept_ = static_cast<std::size_t>(length) <= longest_;
}

/// Takes what has come of a text; false when there is more to come.
bool ReplyReader::read_bulk() {
    const auto come = unread().substr(0, *bulk_left_);
    if (is_kept_) bulk_ += come;
    read_to_ += come.size();
    if ((*bulk_left_ -= come.size()) > 0) return false;
    bulk_left_.reset();
    if (is_kept_) {
        if (!bulk_.ends_with("\r\n")) not_resp();
        bulk_.resize(bulk_.size() - 2);
    }
    add(Reply::Kind::bulk, std::exchange(bulk_, {}));
    return true;
}

void ReplyReader::add(Reply::Kind kind, std::string word) {
    if (reply_.kind != Reply::Kind::array) reply_.kind = kind;
    reply_.words.push_back(std::move(word));
    --elements_left_;
}

std::optional<std::string> ReplyReader::line() {
    const auto rest = unread();
    const auto end = rest.find("\r\n");
    if (std::min(end, rest.size()) > longest_line) not_resp();
    if (end == rest.npos) return std::nullopt;
    read_to_ += end + 2;
    return std::string(rest.substr(0, end));
}

}  // namespace svc::bus_redis
