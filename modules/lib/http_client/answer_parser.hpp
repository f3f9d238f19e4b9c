#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace svc {

/// Reads an HTTP/1.1 answer as it comes in, from whoever may mean harm. Lengths are bounded: the
/// head's, and what is read and what is kept of the body.
class AnswerParser {
public:
    struct Bounds {
        std::size_t head = 32 << 10;  ///< bytes, interim answers included
        std::size_t body = 64 << 10;  ///< then no more is read
        std::size_t kept = 4 << 10;   ///< of the body
    };
    explicit AnswerParser(Bounds bounds) : bounds_(bounds) {}

    enum class State {
        head,     ///< nothing is known yet
        body,     ///< the status is known, and more comes
        done,     ///< all of it was read, or as much as anybody wants
        invalid,  ///< it is no HTTP answer
    };
    State state() const { return state_; }
    State read(std::string_view bytes);
    /// The other side has closed the connection.
    State end();

    int status() const { return status_; }
    const std::string& body() const { return body_; }
    std::optional<std::chrono::seconds> retry_after() const { return retry_after_; }
    /// Whether the connection is good for another request: the answer had an end that was read.
    bool reusable() const { return state_ == State::done && reusable_; }

private:
    std::string_view pending() const { return std::string_view(bytes_).substr(at_); }
    std::optional<std::string_view> next_line();
    bool read_head();
    bool read_status_line(std::string_view line);
    void read_header(std::string_view line);
    void begin_body();
    void read_body();
    void read_chunks();
    void take_body(std::size_t most);
    void finish(bool reusable);

    enum class Framing { none, length, chunks, to_the_end };
    enum class Chunk { size, data, data_end, trailer };

    Bounds bounds_;
    State state_ = State::head;
    std::string bytes_;                  // what was read; from at_ on it is pending,
    std::size_t at_ = 0, searched_ = 0;  // and has no end of a line before searched_
    std::size_t head_bytes_ = 0, body_bytes_ = 0;
    int status_ = 0;
    bool keep_alive_ = true, chunked_ = false, other_coding_ = false, reusable_ = false;
    std::optional<std::uint64_t> length_;
    std::optional<std::chrono::seconds> retry_after_;
    Framing framing_ = Framing::none;
    Chunk chunk_ = Chunk::size;
    std::uint64_t left_ = 0;  // of the body, or of the chunk
    std::string body_;
};

}  // namespace svc
