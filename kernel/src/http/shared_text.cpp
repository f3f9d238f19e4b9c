#include "svc/shared_text.hpp"

#include "http/content_coding.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace svc::http {

namespace {

constexpr std::string_view gzip_head("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);  // RFC 1952, 2.3

void add_number(std::string& out, unsigned long number, int bytes) {
    for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number & 0xff);
}

/// Bytes as they are, in blocks of their own (RFC 1951, 3.2.4).
void add_stored(std::string& out, std::string_view bytes, bool last) {
    constexpr std::size_t longest = 0xffff;
    do {
        const auto piece = bytes.substr(0, longest);
        bytes.remove_prefix(piece.size());
        out += static_cast<char>(last && bytes.empty());
        add_number(out, piece.size(), 2);
        add_number(out, ~piece.size(), 2);
        out += piece;
    } while (!bytes.empty());
}

/// The CRC-32 of the bytes behind those that gave `before`.
unsigned long sum_of(std::string_view bytes, unsigned long before = 0) {
    return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

/// Ends at a byte, with an empty block.
std::string deflated(const std::string& text) {
    constexpr int without_frame = -MAX_WBITS;
    constexpr int memory = 8;
    constexpr uLong last_block = 16;  // more than the empty block takes
    z_stream stream{};
    if (deflateInit2(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, without_frame, memory, Z_DEFAULT_STRATEGY
        ) != Z_OK)
        throw std::bad_alloc();
    std::string out(deflateBound(&stream, text.size()) + last_block, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = deflate(&stream, Z_FULL_FLUSH);
    const bool whole = result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0;
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (!whole) throw std::logic_error("a text could not be compressed");
    out.shrink_to_fit();
    return out;
}

}  // namespace

SharedText::SharedText(std::string text)
    : text_(std::make_shared<const std::string>(std::move(text))) {}

const SharedText::Blocks& SharedText::blocks() const {
    std::call_once(once_, [this] {
        blocks_ = {std::make_shared<const std::string>(deflated(*text_)), sum_of(*text_)};
    });
    return blocks_;
}

void SharedText::write(
    const Request& request, Answer& answer, std::string before, std::string after
) const {
    answer.headers.emplace_back("Vary", "Accept-Encoding");
    if (!accepts_coding(request.header("accept-encoding"), "gzip")) {
        answer.body = std::move(before);
        answer.shared_body = text_;
        answer.tail = std::move(after);
        return;
    }
    const Blocks& blocks = this->blocks();
    const auto sum_so_far =
        crc32_combine(sum_of(before), blocks.sum, static_cast<z_off_t>(text_->size()));
    answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.body = gzip_head;
    if (!before.empty()) add_stored(answer.body, before, false);
    answer.shared_body = blocks.bytes;
    answer.tail.clear();
    add_stored(answer.tail, after, true);
    add_number(answer.tail, sum_of(after, sum_so_far), 4);
    add_number(answer.tail, before.size() + text_->size() + after.size(), 4);
}

}  // namespace svc::http
