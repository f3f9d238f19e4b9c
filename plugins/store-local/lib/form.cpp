#include "plugins/store-local/lib/form.hpp"

#include "svc/failure.hpp"

#include <algorithm>

namespace svc::store_local {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw Failure(Fault::invalid, "This is no form that uploads a file: " + why);
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Takes `text` up to the next semicolon that stands in no quotes.
std::string_view take_parameter(std::string_view& text) {
    bool quoted = false;
    std::size_t at = 0;
    for (; at < text.size() && (quoted || text[at] != ';'); ++at) {
        if (text[at] == '"') quoted = !quoted;
        else if (quoted && text[at] == '\\') ++at;
    }
    at = std::min(at, text.size());
    const auto parameter = trimmed(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
    return parameter;
}

/// The value of `name=value` or `name="value"` among the parameters behind a header's first word.
std::optional<std::string> parameter_of(std::string_view value, std::string_view name) {
    take_parameter(value);
    while (!value.empty()) {
        const auto each = take_parameter(value);
        const auto equals = each.find('=');
        if (equals == std::string_view::npos || lowered(each.substr(0, equals)) != name) continue;
        auto text = each.substr(equals + 1);
        if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
            text = text.substr(1, text.size() - 2);
        return std::string(text);
    }
    return std::nullopt;
}

/// The name in a part's Content-Disposition.
std::string name_in(std::string_view head) {
    constexpr std::string_view header = "content-disposition:";
    while (!head.empty()) {
        const auto end = std::min(head.find("\r\n"), head.size());
        const auto line = head.substr(0, end);
        head.remove_prefix(std::min(end + 2, head.size()));
        if (lowered(line.substr(0, header.size())) != header) continue;
        auto value = trimmed(line.substr(header.size()));
        auto rest = value;
        if (lowered(take_parameter(rest)) != "form-data") break;
        if (auto name = parameter_of(value, "name")) return lowered(*name);
    }
    refuse("a part has no name.");
}

}  // namespace

std::optional<std::string> boundary_of(std::string_view content_type) {
    constexpr std::size_t longest = 70;
    auto rest = content_type;
    if (lowered(take_parameter(rest)) != "multipart/form-data") return std::nullopt;
    auto boundary = parameter_of(content_type, "boundary");
    if (!boundary || boundary->empty() || boundary->size() > longest) return std::nullopt;
    const bool plain = std::ranges::all_of(*boundary, [](char each) {
        return each > 0x20 && each < 0x7F && each != '"' && each != '\\';
    });
    return plain ? boundary : std::nullopt;
}

FormReader::FormReader(const std::string& boundary, Listener& listener)
    : listener_(listener), delimiter_("\r\n--" + boundary) {}

void FormReader::take(std::string_view bytes) {
    if (done()) return;
    here_ += bytes;
    while (step()) {
    }
}

/// False when more has to come in first.
bool FormReader::step() {
    switch (state_) {
        case State::start: return step_start();
        case State::between: return step_between();
        case State::head: return step_head();
        case State::field:
        case State::file: return step_content();
        case State::done: break;
    }
    here_.clear();
    return false;
}

bool FormReader::step_start() {
    const auto first = std::string_view(delimiter_).substr(2);
    const auto size = std::min(first.size(), here_.size());
    if (here_.compare(0, size, first.substr(0, size)) != 0)
        refuse("it does not begin with its boundary.");
    if (size < first.size()) return false;
    here_.erase(0, size);
    state_ = State::between;
    return true;
}

/// Behind a boundary: another part, or the end.
bool FormReader::step_between() {
    if (here_.size() < 2) return false;
    if (here_.starts_with("--")) state_ = State::done;
    else if (here_.starts_with("\r\n")) state_ = State::head;
    else refuse("a boundary is followed by something else.");
    here_.erase(0, 2);
    return true;
}

bool FormReader::step_head() {
    if (here_.starts_with("\r\n")) refuse("a part has no headers.");
    const auto end = here_.find("\r\n\r\n");
    if (std::min(end, here_.size()) > most_of_head) refuse("the headers of a part are too long.");
    if (end == std::string::npos) return false;
    name_ = name_in(std::string_view(here_).substr(0, end));
    here_.erase(0, end + 4);
    value_.clear();
    state_ = name_ == "file" ? State::file : State::field;
    of_fields_ += name_.size();
    if (state_ == State::file) listener_.file_begins();
    return true;
}

bool FormReader::step_content() {
    const auto end = here_.find(delimiter_);
    // The last bytes may be the beginning of a boundary.
    const auto sure = end != std::string::npos           ? end
                      : here_.size() < delimiter_.size() ? 0
                                                         : here_.size() - delimiter_.size() + 1;
    const auto content = std::string_view(here_).substr(0, sure);
    if (state_ == State::file && !content.empty()) listener_.file_bytes(content);
    if (state_ == State::field) {
        of_fields_ += content.size();
        if (of_fields_ > most_of_fields) refuse("its fields are too long.");
        value_ += content;
    }
    if (end == std::string::npos) {
        here_.erase(0, sure);
        return false;
    }
    here_.erase(0, end + delimiter_.size());
    if (state_ == State::file) {
        listener_.file_ends();
        state_ = State::done;  // as in S3, nothing behind the file counts
    } else {
        listener_.field(name_, std::move(value_));
        state_ = State::between;
    }
    return true;
}

}  // namespace svc::store_local
