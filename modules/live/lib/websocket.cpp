#include "modules/live/lib/websocket.hpp"

#include "svc/encoding.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

namespace svc::live {

namespace {

constexpr std::size_t most_control_bytes = 125, mask_size = 4;
constexpr std::uint8_t fin_bit = 0x80, reserved_bits = 0x70, opcode_bits = 0x0F, mask_bit = 0x80,
                       length_bits = 0x7F, two_byte_length = 126, eight_byte_length = 127;

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<std::uint8_t>(text[at]);
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char each : bytes) value = value << 8 | static_cast<std::uint8_t>(each);
    return value;
}

void append_big_endian(std::uint64_t value, int bytes, std::string& out) {
    while (bytes-- > 0) out += static_cast<char>(value >> (8 * bytes));
}

bool is_known(std::uint8_t opcode) {
    return opcode <= static_cast<std::uint8_t>(Opcode::binary) ||
           (opcode >= static_cast<std::uint8_t>(Opcode::close) &&
            opcode <= static_cast<std::uint8_t>(Opcode::pong));
}

bool is_control(Opcode opcode) { return opcode >= Opcode::close; }

/// Bytes of a head that begins with these two, its mask among them.
std::size_t head_size(std::uint8_t length) {
    const std::size_t more = length == two_byte_length ? 2 : length == eight_byte_length ? 8 : 0;
    return 2 + more + mask_size;
}

/// How many bytes the character has that begins with this one, and the least that so many may say.
struct Utf8Lead {
    std::size_t size = 0;  // 0: nothing begins so
    std::uint32_t bits = 0, least = 0;

    explicit Utf8Lead(std::uint8_t lead) {
        if (lead < 0x80) size = 1, bits = lead;
        else if ((lead & 0xE0) == 0xC0) size = 2, bits = lead & 0x1F, least = 0x80;
        else if ((lead & 0xF0) == 0xE0) size = 3, bits = lead & 0x0F, least = 0x800;
        else if ((lead & 0xF8) == 0xF0) size = 4, bits = lead & 0x07, least = 0x10000;
    }
};

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const Utf8Lead lead(byte_at(text, 0));
        if (lead.size == 0 || lead.size > text.size()) return false;
        std::uint32_t point = lead.bits;
        for (std::size_t i = 1; i < lead.size; ++i) {
            if ((byte_at(text, i) & 0xC0) != 0x80) return false;
            point = point << 6 | (byte_at(text, i) & 0x3F);
        }
        const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (point < lead.least || surrogate || point > 0x10FFFF) return false;
        text.remove_prefix(lead.size);
    }
    return true;
}

/// RFC 6455 section 7.4: those that an endpoint may send.
bool may_be_sent(std::uint64_t close_code) {
    if (close_code >= 3000) return close_code <= 4999;
    return close_code >= 1000 && close_code <= 1014 && close_code != 1004 && close_code != 1005 &&
           close_code != 1006;
}

}  // namespace

std::string accept_key(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<std::uint8_t, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digest.data());
    return base64(std::span<const std::uint8_t>(digest), Base64::padded);
}

bool is_websocket_key(std::string_view key) {
    const auto bytes = from_base64(key, Base64::padded);
    return bytes && bytes->size() == 16;
}

std::string frame_of(Opcode opcode, std::string_view payload) {
    std::string out;
    out.reserve(payload.size() + 10);
    out += static_cast<char>(fin_bit | static_cast<std::uint8_t>(opcode));
    if (payload.size() < two_byte_length) out += static_cast<char>(payload.size());
    else if (payload.size() <= 0xFFFF) {
        out += static_cast<char>(two_byte_length);
        append_big_endian(payload.size(), 2, out);
    } else {
        out += static_cast<char>(eight_byte_length);
        append_big_endian(payload.size(), 8, out);
    }
    return out += payload;
}

std::string close_frame(CloseCode code, std::string_view reason) {
    std::string payload;
    append_big_endian(static_cast<std::uint16_t>(code), 2, payload);
    return frame_of(Opcode::close, payload += reason);
}

std::optional<WebSocketMessage> WebSocketParser::next(std::string_view& bytes) {
    while (!error()) {
        if (pending_ && pending_->delivered) {
            pending_->delivered = false;
            pending_->control.clear();
            if (!pending_->in_message) pending_.reset();
        }
        if (bytes.empty()) return std::nullopt;
        if (!pending_) pending_ = std::make_unique<Pending>();
        if (!pending_->frame && !read_head(bytes)) return std::nullopt;
        const auto part = bytes.substr(0, pending_->frame->size - pending_->taken);
        std::string& to = is_control(pending_->frame->opcode) ? pending_->control : pending_->text;
        for (const char each : part)
            to += static_cast<char>(
                static_cast<std::uint8_t>(each) ^
                pending_->frame->mask[pending_->taken++ % mask_size]
            );
        bytes.remove_prefix(part.size());
        if (pending_->taken < pending_->frame->size) return std::nullopt;
        if (auto message = finish_frame()) return message;
    }
    return std::nullopt;
}

/// False when more is needed, or it is wrong.
bool WebSocketParser::read_head(std::string_view& bytes) {
    std::string& head = pending_->head;
    while (!bytes.empty()) {
        head += bytes.front();
        bytes.remove_prefix(1);
        if (head.size() < 2) continue;
        const auto length = static_cast<std::uint8_t>(byte_at(head, 1) & length_bits);
        const bool whole = head.size() == head_size(length);
        // What two bytes say is judged by two: the peer may send no more.
        if (head.size() != 2 && !whole) continue;
        const auto frame = parse_head(head);
        if (!frame || !judge(*frame)) return false;
        if (!whole) continue;
        pending_->frame = frame;
        pending_->taken = 0;
        head.clear();
        return true;
    }
    return false;
}

/// Of a head that is not whole, as much as it says.
std::optional<WebSocketParser::Frame> WebSocketParser::parse_head(std::string_view head) {
    const auto first = byte_at(head, 0), second = byte_at(head, 1);
    if (first & reserved_bits)
        return fail(CloseCode::protocol_error, "No extension was agreed on."), std::nullopt;
    if (!is_known(first & opcode_bits))
        return fail(CloseCode::protocol_error, "There is no such opcode."), std::nullopt;
    if (!(second & mask_bit))
        return fail(CloseCode::protocol_error, "A client's frames are masked."), std::nullopt;
    const auto length = static_cast<std::uint8_t>(second & length_bits);
    Frame frame{
        Opcode{static_cast<std::uint8_t>(first & opcode_bits)}, (first & fin_bit) != 0, {}, length
    };
    if (is_control(frame.opcode) && (!frame.last || length > most_control_bytes))
        return fail(CloseCode::protocol_error, "Control frames are short and whole."), std::nullopt;
    if (head.size() < head_size(length)) {
        if (length >= two_byte_length) frame.size = 0;  // not known yet
        return frame;
    }
    head.substr(head.size() - mask_size).copy(reinterpret_cast<char*>(frame.mask), mask_size);
    if (length < two_byte_length) return frame;
    const auto size = big_endian(head.substr(2, head.size() - 2 - mask_size));
    if (size <= (length == two_byte_length ? most_control_bytes : std::size_t{0xFFFF}))
        return fail(CloseCode::protocol_error, "A length is said as short as it can be."),
               std::nullopt;
    frame.size = size;
    return frame;
}

/// Whether the frame may stand here, and its bytes may come.
bool WebSocketParser::judge(const Frame& frame) {
    if (is_control(frame.opcode)) return true;
    if (frame.opcode == Opcode::binary)
        return fail(CloseCode::unsupported_data, "Messages are text.");
    if ((frame.opcode == Opcode::continuation) != pending_->in_message)
        return fail(
            CloseCode::protocol_error,
            pending_->in_message ? "A message has not ended." : "There is no message to go on with."
        );
    if (frame.size > most_bytes - pending_->text.size())
        return fail(CloseCode::too_large, "A message is at most 64 KiB.");
    return true;
}

std::optional<WebSocketMessage> WebSocketParser::finish_frame() {
    const Frame frame = *std::exchange(pending_->frame, std::nullopt);
    if (frame.opcode == Opcode::close) return finish_close();
    if (is_control(frame.opcode)) {
        pending_->delivered = true;
        return WebSocketMessage{frame.opcode, pending_->control};
    }
    pending_->in_message = !frame.last;
    if (!frame.last) {
        if (++pending_->fragments >= most_fragments)
            fail(CloseCode::policy, "A message has at most 1,000 fragments.");
        return std::nullopt;
    }
    if (!is_utf8(pending_->text)) {
        fail(CloseCode::invalid_text, "Text is UTF-8.");
        return std::nullopt;
    }
    pending_->delivered = true;
    return WebSocketMessage{Opcode::text, pending_->text};
}

std::optional<WebSocketMessage> WebSocketParser::finish_close() {
    const std::string_view payload = pending_->control;
    const bool has_code = payload.size() >= 2;
    if ((!payload.empty() && !has_code) ||
        (has_code && !may_be_sent(big_endian(payload.substr(0, 2))))) {
        fail(CloseCode::protocol_error, "That is no close code.");
        return std::nullopt;
    }
    if (has_code && !is_utf8(payload.substr(2))) {
        fail(CloseCode::invalid_text, "A reason is UTF-8.");
        return std::nullopt;
    }
    pending_->delivered = true;
    return WebSocketMessage{Opcode::close, payload};
}

bool WebSocketParser::fail(CloseCode code, std::string_view reason) {
    *pending_ = Pending();
    pending_->error = WebSocketError{code, reason};
    return false;
}

}  // namespace svc::live
