#include "svc/http.hpp"

#include "http/text.hpp"

#include <unistd.h>

namespace svc::http {

FileBody::~FileBody() { ::close(descriptor_); }

std::string_view Request::header(std::string_view name) const {
    for (const Header& each : headers)
        if (same_name(each.name, name)) return each.value;
    return {};
}

bool Request::has(std::string_view name) const {
    for (const Header& each : headers)
        if (same_name(each.name, name)) return true;
    return false;
}

std::string_view Request::cookie(std::string_view name) const {
    auto rest = header("cookie");
    while (!rest.empty()) {
        const auto end = rest.find(';');
        const auto pair = without_blanks(rest.substr(0, end));
        const auto equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name)
            return pair.substr(equals + 1);
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return {};
}

}  // namespace svc::http
