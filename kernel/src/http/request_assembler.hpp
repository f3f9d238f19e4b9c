#pragma once

#include "http/buffer.hpp"
#include "http/head.hpp"
#include "http/server.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace svc::http {

/// How far the request at the front of a connection's bytes has come in. Kept from read to
/// read, and small, since every connection has one; the parsed head is not kept but read again
/// once the request is whole, because the bytes may move until then.
class RequestAssembler {
public:
    struct Limits {
        std::size_t head;
        std::function<BodyRules(std::string_view method, std::string_view path)> body;
    };
    enum class State {
        more,
        part,  ///< as `more`, and what is here of the body can be taken away
        whole,
        refused,
    };

    /// Looks at what came in from `begin` on. `head` is filled when the request is whole or a part
    /// of its body is here, whoever looked before; its views hold while `in` stays as it is. A
    /// chunked body is unwrapped in place.
    State step(Buffer& in, std::size_t begin, const Limits& limits, Head& head);

    /// Of a request that is whole: its bytes, and those of them that are body.
    std::size_t size() const { return head_size_ + static_cast<std::size_t>(body_size_); }
    std::size_t body_size() const { return static_cast<std::size_t>(body_size_); }
    std::size_t head_size() const { return head_size_; }
    bool head_done() const { return head_size_ != 0; }
    /// Once it is `refused`.
    const Refusal& refusal() const { return *rare_->refusal; }

    /// Of a body that is passed on: its bytes at `begin` that are here, and that they are gone.
    std::string_view part(const Buffer& in, std::size_t begin) const;
    void took(std::size_t bytes) { body_size_ -= bytes; }
    /// Nothing more of it is wanted.
    void cut_short() { body_size_ = 0; }
    bool passes_on() const { return passes_on_; }
    /// Of the body, as announced.
    std::uint64_t announced() const { return rare_ ? rare_->announced : body_size_; }

    /// The client waits for a "100 Continue" before it sends the body. Says so once.
    bool take_expectation(std::size_t bytes_here);

    /// Makes ready for the next request.
    void reset() { *this = RequestAssembler(); }

private:
    State find_head(std::string_view text, std::size_t limit);
    State open(std::string_view text, const Limits& limits, Head& head);
    State read_body(Buffer& in, std::size_t begin);
    State refuse(Refusal why);

    /// What few requests have, and no connection that waits for one.
    struct Rare {
        std::uint64_t announced = 0;  // of a body that is passed on
        std::optional<Chunks> chunks{};
        std::optional<Refusal> refusal{};
    };
    Rare& rare();

    std::uint32_t scanned_ = 0;     // no line ends before this
    std::uint32_t line_start_ = 0;  // of the line that `scanned_` stands in
    std::uint32_t head_size_ = 0;   // 0: its end is not here yet
    Head::Body body_ = Head::Body::none;
    bool expects_continue_ = false;
    bool body_done_ = false;
    bool passes_on_ = false;
    // Of a sized body as announced, of a chunked one so far, of one that is passed on what is
    // still to come.
    std::uint64_t body_size_ = 0;
    std::unique_ptr<Rare> rare_;
};

}  // namespace svc::http
