#include "decl/addresses.hpp"
#include "decl/timestamp.hpp"
#include "decl/utf8.hpp"
#include "svc/types.hpp"

#include <algorithm>
#include <charconv>

namespace svc {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return is_ascii(c); });
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_case) {
    return text.size() >= lower_case.size() &&
           std::ranges::equal(text.substr(0, lower_case.size()), lower_case, {}, lower);
}

// A label of a domain name (RFC 1035).
bool is_label(std::string_view label) {
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-')
        return false;
    return std::ranges::all_of(label, [](char c) {
        return is_letter(c) || is_digit(c) || c == '-';
    });
}

std::size_t count_labels(std::string_view domain) {
    for (std::size_t count = 1;; ++count) {
        const std::size_t dot = domain.find('.');
        if (!is_label(domain.substr(0, dot))) return 0;
        if (dot == domain.npos) return count;
        domain.remove_prefix(dot + 1);
    }
}

// At least two labels, the last one not a number: `a@1.2.3.4` is no mail address.
bool is_dotted_domain(std::string_view domain) {
    if (domain.size() > 253 || count_labels(domain) < 2) return false;
    const std::string_view last = domain.substr(domain.rfind('.') + 1);
    return !std::ranges::all_of(last, is_digit);
}

// A dot-atom of RFC 5322; quoted local parts are not taken.
bool is_local_part(std::string_view local) {
    if (local.empty() || local.size() > 64 || local.front() == '.' || local.back() == '.' ||
        local.find("..") != local.npos)
        return false;
    return std::ranges::all_of(local, [](char c) {
        return std::string_view(R"(()<>[]:;@\,")").find(c) == std::string_view::npos;
    });
}

bool is_port(std::string_view text) {
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() && port > 0 && port <= 65535;
}

bool is_host(std::string_view host) {
    if (host.starts_with('[')) {
        if (host.size() < 4 || !host.ends_with(']')) return false;
        return std::ranges::all_of(host.substr(1, host.size() - 2), [](char c) {
            return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f') || c == ':' || c == '.';
        });
    }
    if (host.ends_with('.')) host.remove_suffix(1);
    if (host.empty() || host.size() > 253) return false;
    return std::ranges::all_of(host, [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || !is_ascii(c);
    });
}

// A name and a password in an address are refused: what reads it next may take them for the host.
bool is_authority(std::string_view authority) {
    const std::size_t bracket = authority.rfind(']');
    const std::size_t colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
    if (colon != authority.npos && !is_port(authority.substr(colon + 1))) return false;
    return is_host(authority.substr(0, colon));
}

}  // namespace

bool format::email::accept(std::string& text) {
    text = std::string(decl::utf8::trimmed(text));
    if (text.size() > 254 || !decl::utf8::well_formed(text) ||
        decl::utf8::has_space_or_control(text))
        return false;
    const std::size_t at = text.find('@');
    if (at == text.npos || !is_local_part(std::string_view(text).substr(0, at))) return false;
    if (const std::string_view domain = std::string_view(text).substr(at + 1); !is_ascii(domain)) {
        const auto ascii = decl::ascii_domain(domain);
        if (!ascii) return false;
        text.replace(at + 1, text.npos, *ascii);
    }
    return text.size() <= 254 && is_dotted_domain(std::string_view(text).substr(at + 1));
}

bool format::uri::accept(std::string& text) {
    if (text.size() > 2000 || !decl::utf8::well_formed(text) ||
        decl::utf8::has_space_or_control(text) || text.find_first_of("\\\"<>^`{|}") != text.npos)
        return false;
    std::string_view rest = text;
    if (starts_with_ignoring_case(rest, "https://")) rest.remove_prefix(8);
    else if (starts_with_ignoring_case(rest, "http://")) rest.remove_prefix(7);
    else return false;
    return is_authority(rest.substr(0, rest.find_first_of("/?#")));
}

bool format::date::accept(std::string& text) { return decl::is_date(text); }

// The domain of an Email is in ASCII, so its folding is that of ASCII, too.
std::string email_key(const Email& email) {
    std::string key = email.str();
    if (!is_ascii(key)) return decl::folded(key);
    std::ranges::transform(key, key.begin(), lower);
    return key;
}

}  // namespace svc
