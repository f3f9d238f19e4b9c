#pragma once

#include "http/refusal.hpp"
#include "svc/http.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The strict parser: one head, or the chunks of one body. parser.cpp is the only file that
/// knows Boost.Beast, which does the reading; what Beast would let pass is refused here.
namespace svc::http {

/// What the head of a request says. The views reach into the text that was parsed.
struct Head {
    static constexpr std::size_t most_headers = 100;
    enum class Body : std::uint8_t { none, sized, chunked };

    std::string_view method;
    std::string_view target;      ///< in origin form, or `*`
    std::string_view authority;   ///< of a target that was sent in absolute form
    std::string_view usual_port;  ///< of its scheme, with the colon
    std::array<Header, most_headers> headers;
    std::size_t count = 0;
    /// Values of list headers that were sent several times, joined, and whose header they are.
    std::vector<std::pair<std::size_t, std::string>> joined;
    std::string with_slash;  ///< a target that was sent without its slash
    Body body = Body::none;
    std::uint64_t length = 0;  ///< of a sized body
    bool newer = false;        ///< HTTP/1.1 rather than 1.0
    bool keep_alive = false;
    bool expects_continue = false;

    std::span<const Header> all() const { return {headers.data(), count}; }
};

/// Reads a whole head: from the first byte of the request line to the empty line.
std::optional<Refusal> parse_head(std::string_view text, Head& head);

/// Takes the framing off a chunked body, in place.
class Chunks {
public:
    explicit Chunks(std::size_t body_limit);
    ~Chunks();

    struct Step {
        std::size_t read;     ///< bytes of framing and content that were taken
        std::size_t content;  ///< bytes of content, moved to `out`
        bool done;
        std::optional<Refusal> refusal;
    };
    /// Reads from `raw` and moves content to `out`, which may lie before `raw` in one buffer. What
    /// it leaves unread is to be given again with more behind it.
    Step step(std::string_view raw, char* out);

private:
    class Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace svc::http
