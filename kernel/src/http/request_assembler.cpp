#include "http/request_assembler.hpp"

#include "http/text.hpp"

namespace svc::http {

namespace {

// What a Buffer can hold, whatever a route says.
constexpr std::size_t largest_body = std::size_t{1} << 30;

// A method's first character. Whatever else begins a connection (TLS, say) is no HTTP.
constexpr bool may_begin_request(char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

RequestAssembler::State RequestAssembler::step(
    Buffer& in, std::size_t begin, const Limits& limits, Head& head
) {
    const auto text = in.view().substr(begin);
    bool fresh = false;
    if (!head_done()) {
        if (const State found = find_head(text, limits.head); found != State::whole) return found;
        if (const State opened = open(text, limits, head); opened != State::whole) return opened;
        fresh = true;
    }
    const State read = read_body(in, begin);
    const bool shown = read == State::whole || read == State::part;
    if (shown && !fresh) parse_head(in.view().substr(begin, head_size_), head);
    return read;
}

/// Looks for the empty line. Line feeds alone are refused as they come in, since a parser before
/// or behind us might take them for a line's end.
RequestAssembler::State RequestAssembler::find_head(std::string_view text, std::size_t limit) {
    if (text.empty()) return State::more;
    if (!may_begin_request(text.front())) return refuse({400, "The request line is malformed."});
    for (;;) {
        const auto feed = text.find('\n', scanned_);
        if (feed == std::string_view::npos) break;
        if (feed == 0 || text[feed - 1] != '\r')
            return refuse({400, "Every line of the head must end with CR LF."});
        const bool empty = feed - line_start_ == 1;
        scanned_ = line_start_ = static_cast<std::uint32_t>(feed + 1);
        if (scanned_ > limit) break;
        if (!empty) continue;
        head_size_ = scanned_;
        return State::whole;
    }
    if (text.size() > limit || scanned_ > limit)
        return refuse({431, "The request's head is too large."});
    scanned_ = static_cast<std::uint32_t>(text.size());
    return State::more;
}

RequestAssembler::State RequestAssembler::open(
    std::string_view text, const Limits& limits, Head& head
) {
    if (const auto refusal = parse_head(text.substr(0, head_size_), head)) return refuse(*refusal);
    body_ = head.body;
    if (body_ == Head::Body::none) return State::whole;
    const auto path = head.target.substr(0, head.target.find('?'));
    const BodyRules rules = limits.body(head.method, path);
    const auto limit = std::min(rules.most, largest_body);
    if (head.length > limit) return refuse({413, "The body is larger than this route takes."});
    body_size_ = head.length;
    passes_on_ = rules.in_pieces;
    if (passes_on_ && body_ == Head::Body::chunked)
        return refuse({411, "The body's size has to be said in front, by Content-Length."});
    if (passes_on_) rare().announced = head.length;
    expects_continue_ = head.expects_continue && head.newer;
    if (body_ == Head::Body::chunked) rare().chunks.emplace(limit);
    return State::whole;
}

RequestAssembler::State RequestAssembler::read_body(Buffer& in, std::size_t begin) {
    if (body_ == Head::Body::none || body_done_) return State::whole;
    if (passes_on_) return body_size_ == 0 ? State::whole : State::part;
    if (body_ == Head::Body::sized) return in.size() - begin >= size() ? State::whole : State::more;
    const auto raw = begin + size();
    const auto step = rare_->chunks->step(in.view().substr(raw), in.data() + raw);
    if (step.refusal) return refuse(*step.refusal);
    const auto left = in.size() - raw - step.read;
    std::memmove(in.data() + raw + step.content, in.data() + raw + step.read, left);
    in.resize_down(raw + step.content + left);
    body_size_ += step.content;
    if (!step.done) return State::more;
    body_done_ = true;
    rare_.reset();
    return State::whole;
}

std::string_view RequestAssembler::part(const Buffer& in, std::size_t begin) const {
    return in.view().substr(begin + head_size_).substr(0, body_size());
}

bool RequestAssembler::take_expectation(std::size_t bytes_here) {
    const bool waits = expects_continue_ && bytes_here <= head_size_;
    expects_continue_ = false;
    return waits;
}

RequestAssembler::State RequestAssembler::refuse(Refusal why) {
    rare().refusal = why;
    return State::refused;
}

RequestAssembler::Rare& RequestAssembler::rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
}

}  // namespace svc::http
