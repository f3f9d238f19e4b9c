#include "http/glimpse.hpp"

#include "http/head.hpp"
#include "http/head_rules.hpp"
#include "http/text.hpp"

#include <algorithm>

namespace svc::http {

Glimpse::Glimpse(std::string_view text) {
    bool first = true;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (std::exchange(first, false)) take_first(line);
        else if (line.empty() || headers_.size() == Head::most_headers) break;
        else take_header(line);
    }
    request_.headers = headers_;
}

void Glimpse::take_first(std::string_view line) {
    const auto method = std::min(line.find(' '), line.size());
    request_.method = line.substr(0, method);
    line.remove_prefix(std::min(method + 1, line.size()));
    request_.target = line.substr(0, line.rfind(' '));
    const auto path = std::min(request_.target.find('?'), request_.target.size());
    request_.path = request_.target.substr(0, path);
    request_.query = request_.target.substr(std::min(path + 1, request_.target.size()));
}

void Glimpse::take_header(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == line.npos) return;
    const auto value = without_blanks(line.substr(colon + 1));
    if (is_value(value)) headers_.push_back({line.substr(0, colon), value});
}

}  // namespace svc::http
