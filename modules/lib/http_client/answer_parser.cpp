#include "modules/lib/http_client/answer_parser.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <utility>

namespace svc {

namespace {

constexpr std::size_t longest_chunk_line = 256;

bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

std::string_view stripped(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Whether a list such as that of Connection names the word.
bool names(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        if (same_word(stripped(list.substr(0, comma)), word)) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The three forms of RFC 9110, 5.6.7.
std::optional<std::time_t> http_date(const std::string& text) {
    for (const char* form :
         {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
        std::tm parts{};
        const char* end = strptime(text.c_str(), form, &parts);
        if (end && *end == '\0') return timegm(&parts);
    }
    return std::nullopt;
}

/// How long Retry-After says to wait: so many seconds, or until a time.
std::optional<std::chrono::seconds> read_retry_after(std::string_view value) {
    constexpr std::uint64_t most = 1'000'000;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!value.empty() && std::ranges::all_of(value, is_digit))
        return std::chrono::seconds(std::min(number(value, 10).value_or(most), most));
    const auto date = http_date(std::string(value));
    if (!date) return std::nullopt;
    const auto left = std::max<std::time_t>(*date - std::time(nullptr), 0);
    return std::chrono::seconds(std::min(static_cast<std::uint64_t>(left), most));
}

}  // namespace

AnswerParser::State AnswerParser::read(std::string_view bytes) {
    if (state_ == State::done || state_ == State::invalid) {
        reusable_ = reusable_ && bytes.empty();  // nobody asked for more
        return state_;
    }
    bytes_ += bytes;
    while (state_ == State::head && read_head()) {
    }
    if (state_ == State::body) read_body();
    if (state_ == State::done && !pending().empty()) reusable_ = false;
    bytes_.erase(0, std::exchange(at_, 0));
    searched_ = bytes_.size();
    return state_;
}

AnswerParser::State AnswerParser::end() {
    if (state_ == State::head) state_ = State::invalid;
    // The status was read; how the body would have gone on changes nothing.
    if (state_ == State::body) finish(false);
    return state_;
}

/// The next line with its end, if all of it is there; each byte is looked at once. Good until more
/// is read.
std::optional<std::string_view> AnswerParser::next_line() {
    const auto end = bytes_.find('\n', std::max(at_, searched_));
    if (end == bytes_.npos) return std::nullopt;
    const auto begin = std::exchange(at_, end + 1);
    return std::string_view(bytes_).substr(begin, at_ - begin);
}

/// A line of the head, or all of it; false when there is not enough for one.
bool AnswerParser::read_head() {
    const auto whole = next_line();
    const auto size = whole ? whole->size() : pending().size();
    if (head_bytes_ + size > bounds_.head) return state_ = State::invalid, false;
    if (!whole) {
        // What does not begin as an answer is none, however long it goes on.
        constexpr std::string_view begin = "HTTP/1.";
        const auto some = pending().substr(0, begin.size());
        if (status_ == 0 && !begin.starts_with(some)) state_ = State::invalid;
        return false;
    }
    head_bytes_ += size;
    const std::string_view line = stripped(*whole);
    if (status_ == 0) {
        if (!read_status_line(line)) state_ = State::invalid;
    } else if (!line.empty()) {
        read_header(line);
    } else if (status_ < 200) {  // more comes, but for a change of protocols
        if (status_ == 101) state_ = State::invalid;
        status_ = 0;
        length_.reset();
        chunked_ = other_coding_ = false;
        keep_alive_ = true;
    } else {
        begin_body();
    }
    return state_ == State::head;
}

bool AnswerParser::read_status_line(std::string_view line) {
    // HTTP/1.1 200 and whatever it says besides
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return false;
    if (line.size() > 12 && line[12] != ' ') return false;
    const auto status = number(line.substr(9, 3), 10);
    if (!status || *status < 100 || *status > 599) return false;
    keep_alive_ = line[7] != '0';
    status_ = static_cast<int>(*status);
    return true;
}

void AnswerParser::read_header(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) return;
    const auto name = line.substr(0, colon), value = stripped(line.substr(colon + 1));
    if (same_word(name, "content-length")) {
        const auto length = number(value, 10);
        // One that is none, or two that differ: the end of the body is not known.
        if (!length || (length_ && length_ != length)) other_coding_ = true;
        else length_ = length;
    } else if (same_word(name, "transfer-encoding")) {
        if (same_word(value, "chunked") && !chunked_) chunked_ = true;
        else other_coding_ = true;
    } else if (same_word(name, "connection")) {
        if (names(value, "close")) keep_alive_ = false;
    } else if (same_word(name, "retry-after")) {
        if (const auto pause = read_retry_after(value)) retry_after_ = pause;
    }
}

void AnswerParser::begin_body() {
    state_ = State::body;
    if (status_ == 204 || status_ == 304) return finish(keep_alive_);
    if (other_coding_ || (chunked_ && length_)) {
        framing_ = Framing::to_the_end;
    } else if (chunked_) {
        framing_ = Framing::chunks;
    } else if (length_) {
        framing_ = Framing::length;
        left_ = *length_;
    } else {
        framing_ = Framing::to_the_end;
    }
}

void AnswerParser::read_body() {
    switch (framing_) {
        case Framing::none: break;
        case Framing::chunks: read_chunks(); break;
        case Framing::to_the_end: take_body(pending().size()); break;
        case Framing::length: {
            const auto some = std::min<std::uint64_t>(left_, pending().size());
            take_body(some);
            left_ -= some;
            if (left_ == 0 && state_ == State::body) finish(keep_alive_);
        }
    }
}

void AnswerParser::read_chunks() {
    while (state_ == State::body) {
        if (chunk_ == Chunk::data) {
            if (pending().empty()) return;
            const auto some = std::min<std::uint64_t>(left_, pending().size());
            take_body(some);
            if ((left_ -= some) == 0) chunk_ = Chunk::data_end;
            continue;
        }
        const auto whole = next_line();
        if (!whole) {
            if (pending().size() > longest_chunk_line) finish(false);
            return;
        }
        const std::string_view line = stripped(*whole);
        if ((body_bytes_ += whole->size()) > bounds_.body) return finish(false);
        if (chunk_ == Chunk::data_end) {
            chunk_ = Chunk::size;
        } else if (chunk_ == Chunk::trailer) {
            if (line.empty()) finish(keep_alive_);
        } else {
            const auto size = number(stripped(line.substr(0, line.find(';'))), 16);
            if (!size) return finish(false);
            left_ = *size;
            chunk_ = *size == 0 ? Chunk::trailer : Chunk::data;
        }
    }
}

/// Takes so much of what is pending as body.
void AnswerParser::take_body(std::size_t most) {
    const auto room = bounds_.kept - std::min(bounds_.kept, body_.size());
    body_.append(pending().substr(0, std::min(most, room)));
    at_ += most;
    if ((body_bytes_ += most) > bounds_.body) finish(false);
}

void AnswerParser::finish(bool reusable) {
    state_ = State::done;
    reusable_ = reusable;
}

}  // namespace svc
