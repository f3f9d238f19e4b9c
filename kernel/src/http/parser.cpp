#include "http/head.hpp"
#include "http/head_rules.hpp"
#include "http/text.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <bitset>
#include <cstring>

namespace svc::http {

namespace {

namespace beast = boost::beast::http;
using Error = boost::beast::error_code;
using Text = boost::beast::string_view;

std::string_view plain(Text text) { return {text.data(), text.size()}; }

/// Beast's parser with everything ignored, for the two below to say what they want.
class Base : public beast::basic_parser<true> {
public:
    std::optional<Refusal> refusal;

protected:
    void refuse(Error& error, int status, std::string_view reason) {
        refusal = Refusal{status, reason};
        error = beast::error::bad_value;
    }
    void on_request_impl(beast::verb, Text, Text, int, Error&) override {}
    void on_response_impl(int, Text, int, Error&) override {}
    void on_field_impl(beast::field, Text, Text, Error&) override {}
    void on_header_impl(Error&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
    std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
        return body.size();
    }
    void on_finish_impl(Error&) override {}
};

class HeadParser final : public Base {
public:
    HeadParser(std::string_view text, Head& head) : text_(text), head_(head) {
        header_limit(static_cast<std::uint32_t>(text.size() + 1));
        body_limit(boost::none);  // judged by whoever knows the route
    }

    /// What can only be said once every header is known.
    void finish() {
        if (refusal) return;
        head_.keep_alive = keep_alive();
        if (chunked()) head_.body = Head::Body::chunked;
        else if (const auto length = content_length(); length && *length > 0) {
            head_.body = Head::Body::sized;
            head_.length = *length;
        }
        if (head_.newer && !host_) refusal = Refusal{400, "A request needs one Host header."};
        if (host_ && !agrees(*host_, head_))
            refusal = Refusal{400, "The Host header names another host than the request target."};
        if (!head_.newer && chunked())
            refusal = Refusal{400, "HTTP/1.0 knows no transfer codings."};
        for (auto& [place, value] : head_.joined) head_.headers[place].value = value;
    }

private:
    void on_request_impl(beast::verb, Text method, Text target, int version, Error& error)
        override {
        head_.method = plain(method);
        head_.target = plain(target);
        head_.newer = version == 11;
        if (const auto judged = judge_target(head_)) refuse(error, judged->status, judged->reason);
    }

    void on_field_impl(beast::field field, Text sent_name, Text sent_value, Error& error) override {
        const auto name = plain(sent_name);
        const auto value = plain(sent_value);
        if (is_folded(name, value)) return refuse(error, 400, "A header must stand on one line.");
        if (!is_value(value))
            return refuse(error, 400, "A header's value must be visible text in UTF-8.");
        judge(field, value, error);
        if (error) return;
        if (const auto place = earlier(field, name); place < head_.count) {
            if (!is_list_header(name)) return refuse(error, 400, "A header was sent twice.");
            return join(place, value);
        }
        if (head_.count == Head::most_headers) return refuse(error, 431, "Too many headers.");
        head_.headers[head_.count++] = {name, value};
    }

    void judge(beast::field field, std::string_view value, Error& error) {
        switch (field) {
            case beast::field::host:
                host_ = value;
                if (!is_host(value)) refuse(error, 400, "The Host header is malformed.");
                break;
            case beast::field::transfer_encoding:
                if (!same_name(value, "chunked"))
                    refuse(error, 400, "The only transfer coding taken is chunked.");
                break;
            case beast::field::content_length:
                if (value.find_first_not_of("0123456789") != std::string_view::npos)
                    refuse(error, 400, "Content-Length must be one number.");
                break;
            case beast::field::expect:
                if (!same_name(value, "100-continue"))
                    return refuse(error, 417, "The only expectation met is 100-continue.");
                head_.expects_continue = true;
                break;
            default: break;
        }
    }

    /// The place of a header of that name that came before; `count` when there is none.
    std::size_t earlier(beast::field field, std::string_view name) {
        const auto number = static_cast<std::size_t>(field);
        if (field != beast::field::unknown) {
            if (!seen_.test(number)) {
                seen_.set(number);
                return head_.count;
            }
        }
        for (std::size_t i = 0; i < head_.count; ++i)
            if (same_name(head_.headers[i].name, name)) return i;
        return head_.count;
    }

    void join(std::size_t place, std::string_view value) {
        for (auto& [owner, text] : head_.joined)
            if (owner == place) return void(text.append(", ").append(value));
        auto& [owner, text] =
            head_.joined.emplace_back(place, std::string(head_.headers[place].value));
        text.append(", ").append(value);
    }

    /// Beast unfolds a value that goes on in the next line into a buffer of its own, or finds it
    /// behind a line's end.
    bool is_folded(std::string_view name, std::string_view value) const {
        const char* after_name = name.data() + name.size();
        const auto inside = [&](const char* at) {
            return std::less_equal<>{}(after_name, at) &&
                   std::less_equal<>{}(at, text_.data() + text_.size());
        };
        if (!inside(value.data())) return true;
        const std::string_view between(
            after_name, static_cast<std::size_t>(value.data() - after_name)
        );
        return between.find_first_of("\r\n") != std::string_view::npos;
    }

    static constexpr std::size_t known_fields = 512;
    static_assert(static_cast<std::size_t>(beast::field::xref) < known_fields);
    std::string_view text_;
    Head& head_;
    std::bitset<known_fields> seen_;
    std::optional<std::string_view> host_;
};

std::string_view reason_of(const Error& error) {
    using E = beast::error;
    if (error == E::bad_version) return "The version must be HTTP/1.1 or HTTP/1.0.";
    if (error == E::bad_content_length || error == E::multiple_content_length)
        return "Content-Length is not one number, or stands beside Transfer-Encoding.";
    if (error == E::bad_transfer_encoding)
        return "Transfer-Encoding was sent twice or beside Content-Length.";
    if (error == E::bad_method || error == E::bad_target) return "The request line is malformed.";
    if (error == E::bad_field) return "A header's name is malformed.";
    if (error == E::bad_value) return "A header's value is malformed.";
    if (error == E::bad_chunk) return "A chunk is malformed.";
    if (error == E::bad_chunk_extension) return "A chunk's extension is malformed.";
    return "The request is malformed.";
}

}  // namespace

std::optional<Refusal> parse_head(std::string_view text, Head& head) {
    head.count = 0;
    head.joined.clear();
    head.body = Head::Body::none;
    head.length = 0;
    head.expects_continue = false;
    HeadParser parser(text, head);
    Error error;
    const auto read = parser.put({text.data(), text.size()}, error);
    if (parser.refusal) return parser.refusal;
    if (error) return Refusal{400, reason_of(error)};
    if (read != text.size()) return Refusal{400, "The request is malformed."};
    parser.finish();
    return parser.refusal;
}

class Chunks::Parser final : public Base {
public:
    static constexpr std::size_t last_chunk = std::string_view("0\r\n\r\n").size();
    static constexpr std::size_t longest_line = 256;
    static constexpr std::size_t longest_extension = 128;

    explicit Parser(std::size_t limit) {
        body_limit(limit);
        // Beast reads chunks only behind a head that announces them.
        static constexpr std::string_view head =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        Error error;
        put({head.data(), head.size()}, error);
        in_head_ = false;
    }

    Step step(std::string_view raw, char* out) {
        out_ = out;
        content_ = 0;
        Error error;
        std::size_t read = 0;
        // Beast asserts that it sees a last chunk whole when it looks at one again. Less than that
        // is never the end of a body, so nothing is lost by waiting.
        while (raw.size() - read >= last_chunk && !error && !is_done())
            read += put({raw.data() + read, raw.size() - read}, error);
        if (error == beast::error::need_more) {
            error = {};
            if (raw.size() - read > longest_line)
                refuse(error, 400, "A chunk's first line is too long.");
        }
        const auto rest = raw.substr(read);
        if (!error && !is_done() && left_in_chunk_ < rest.size())
            judge_line(rest.substr(left_in_chunk_), error);
        if (error == beast::error::body_limit) {
            // Beast looks at the size before the rest of the line, and judge_line() at the rest
            // before the size where the line arrives in pieces.
            judge_line(first_line_of(rest), error);
            if (!refusal) refusal = Refusal{413, "The body is larger than this route takes."};
        } else if (error && !refusal) refusal = Refusal{400, reason_of(error)};
        return {read, content_, !refusal && is_done(), refusal};
    }

private:
    void on_field_impl(beast::field, Text, Text, Error& error) override {
        if (!in_head_) refuse(error, 400, "Trailers are not taken.");
    }
    /// The rest of a chunk's end and the first line of the next.
    static std::string_view first_line_of(std::string_view begun) {
        const std::size_t from = begun.starts_with("\r\n") ? 2 : 0;
        return begun.substr(0, begun.find("\r\n", from));
    }
    /// What may become a chunk's first line, or lines at the end: Beast waits for the CR LF that
    /// may never come.
    void judge_line(std::string_view begun, Error& error) {
        for (auto feed = begun.find('\n'); feed != begun.npos; feed = begun.find('\n', feed + 1))
            if (feed == 0 || begun[feed - 1] != '\r')
                return refuse(error, 400, "Every line between chunks must end with CR LF.");
        if (begun.starts_with("\r\n")) begun.remove_prefix(2);
        if (!begun.empty() && begun.front() != '\r' && !is_hex(begun.front()))
            refuse(error, 400, "A chunk must begin with its size.");
    }
    void on_chunk_header_impl(std::uint64_t size, Text extension, Error& error) override {
        left_in_chunk_ = size;
        const auto text = plain(extension);
        if (text.size() > longest_extension)
            return refuse(error, 400, "A chunk's extension is too long.");
        if (!is_value(text)) refuse(error, 400, "A chunk's extension is malformed.");
    }
    std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
        left_in_chunk_ -= body.size();
        std::memmove(out_ + content_, body.data(), body.size());
        content_ += body.size();
        return body.size();
    }

    bool in_head_ = true;
    std::uint64_t left_in_chunk_ = 0;
    char* out_ = nullptr;
    std::size_t content_ = 0;
};

Chunks::Chunks(std::size_t body_limit) : parser_(std::make_unique<Parser>(body_limit)) {}
Chunks::~Chunks() = default;
Chunks::Step Chunks::step(std::string_view raw, char* out) { return parser_->step(raw, out); }

}  // namespace svc::http
