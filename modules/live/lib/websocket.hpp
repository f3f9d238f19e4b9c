#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// The wire format of WebSocket (RFC 6455), as a server speaks it. None of it knows a socket.
namespace svc::live {

/// What `Sec-WebSocket-Accept` answers to a `Sec-WebSocket-Key`.
std::string accept_key(std::string_view key);
/// Whether a key is 16 bytes in base64.
bool is_websocket_key(std::string_view key);

enum class Opcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

/// Why a connection is closed: RFC 6455 section 7.4.1, and 4401 of our own.
enum class CloseCode : std::uint16_t {
    normal = 1000,
    going_away = 1001,
    protocol_error = 1002,
    unsupported_data = 1003,
    invalid_text = 1007,
    policy = 1008,
    too_large = 1009,
    try_again_later = 1013,
    unauthorized = 4401,
};

/// A whole frame of the server's: unmasked, in one piece.
std::string frame_of(Opcode opcode, std::string_view payload);
/// A Close frame; `reason` is at most 123 bytes of UTF-8.
std::string close_frame(CloseCode code, std::string_view reason);

/// A message of the client's: its text put together, or a control frame's payload.
struct WebSocketMessage {
    Opcode opcode = Opcode::text;  ///< text, close, ping or pong
    std::string_view payload;
};

/// What ends the connection: the peer does not keep to the protocol.
struct WebSocketError {
    CloseCode code = CloseCode::protocol_error;
    std::string_view reason;
};

/// Takes a client's bytes apart. Strict: frames are masked, without reserved bits, as short as can
/// be said; control frames are whole and at most 125 bytes; text is UTF-8. Lengths are judged
/// before any memory is taken. Between messages it holds nothing. One thread at a time.
class WebSocketParser {
public:
    /// Of a message, its fragments together.
    static constexpr std::size_t most_bytes = 64 << 10;
    /// Of one message: an empty one costs its sender next to nothing.
    static constexpr std::size_t most_fragments = 1'000;

    /// Takes the next message off the front of `bytes`, or all of them when it is not whole. The
    /// message's payload is valid until the next call. Nothing when more is needed, or when the
    /// peer has erred.
    std::optional<WebSocketMessage> next(std::string_view& bytes);
    /// Null as long as the peer has kept to the protocol.
    const WebSocketError* error() const {
        return pending_ && pending_->error ? &*pending_->error : nullptr;
    }

private:
    struct Frame {
        Opcode opcode;
        bool last;
        std::uint8_t mask[4];
        std::size_t size;
    };
    struct Pending {
        std::string head;     // of a frame whose head is not whole
        std::string text;     // of fragments, and of a frame that is not whole, unmasked
        std::string control;  // payload of a control frame
        std::optional<Frame> frame;
        std::size_t taken = 0;      // of the frame's payload
        std::size_t fragments = 0;  // of the message, so far
        bool in_message = false;
        bool delivered = false;  // `text` or `control` was handed out and may go
        std::optional<WebSocketError> error;
    };

    bool read_head(std::string_view& bytes);
    std::optional<Frame> parse_head(std::string_view head);
    bool judge(const Frame& frame);
    std::optional<WebSocketMessage> finish_frame();
    std::optional<WebSocketMessage> finish_close();
    bool fail(CloseCode code, std::string_view reason);

    std::unique_ptr<Pending> pending_;  // none between messages
};

}  // namespace svc::live
