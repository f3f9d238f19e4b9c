#pragma once

#include "svc/http.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace svc::http {

/// A long text that many answers send, whole or between what is each answer's own. Clients that
/// take gzip get it compressed, which is done once, for the first of them; neither form is copied
/// for an answer. Any thread.
class SharedText {
public:
    explicit SharedText(std::string text);

    const std::string& text() const { return *text_; }
    /// Makes `before`, the text and `after` the body of the answer to this request, and adds the
    /// headers that say how they are coded.
    void write(
        const Request& request, Answer& answer, std::string before = {}, std::string after = {}
    ) const;

private:
    /// The text as RFC 1951 has it, without the last block: blocks may stand before and behind.
    struct Blocks {
        std::shared_ptr<const std::string> bytes;
        unsigned long sum;  // CRC-32 of the text
    };
    const Blocks& blocks() const;

    std::shared_ptr<const std::string> text_;
    mutable std::once_flag once_;
    mutable Blocks blocks_;
};

}  // namespace svc::http
