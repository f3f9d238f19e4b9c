#include "modules/oauth/lib/client_metadata.hpp"

#include "modules/oauth/lib/redirect_uri.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>

namespace svc::oauth {

namespace json = boost::json;

namespace {

constexpr std::size_t most_redirect_uris = 10, longest_name = 80;

BadMetadata wrong(const std::string& why) { return {"invalid_client_metadata", why}; }
BadMetadata wrong_redirect(const std::string& why) { return {"invalid_redirect_uri", why}; }

/// A character and how many bytes of `text`, which is UTF-8, it has.
struct Character {
    std::uint32_t point = 0;
    std::size_t size = 1;
};
Character first_of(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {lead, 1};
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    Character out{lead & (0xFFu >> (size + 1)), std::min(size, text.size())};
    for (std::size_t i = 1; i < out.size; ++i)
        out.point = (out.point << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    return out;
}

bool is_in(std::uint32_t point, std::uint32_t first, std::uint32_t last) {
    return point >= first && point <= last;
}
/// Controls, marks of direction, and what has no width.
bool misleads(std::uint32_t point) {
    return point < 0x20 || is_in(point, 0x7F, 0x9F) || point == 0xAD || point == 0x61C ||
           is_in(point, 0x200B, 0x200F) || is_in(point, 0x2028, 0x202E) ||
           is_in(point, 0x2060, 0x206F) || point == 0xFEFF || is_in(point, 0xE0000, 0xE0FFF);
}

const json::array* list_in(const json::object& from, std::string_view name) {
    const json::value* value = from.if_contains(name);
    if (!value || value->is_null()) return nullptr;
    if (const auto* list = value->if_array()) return list;
    throw wrong(std::string(name) + " is a list.");
}

/// Absent is as if it were what there is.
void require_among(const json::object& from, std::string_view name, std::string_view wanted) {
    const auto* list = list_in(from, name);
    if (!list || std::ranges::find(*list, json::value(wanted)) != list->end()) return;
    throw wrong(std::string(name) + " has to have " + std::string(wanted) + ".");
}

std::vector<std::string> redirect_uris_in(
    const json::object& from, const std::vector<std::string>& schemes
) {
    const auto* list = list_in(from, "redirect_uris");
    if (!list || list->empty()) throw wrong_redirect("redirect_uris is missing or empty.");
    if (list->size() > most_redirect_uris)
        throw wrong_redirect(
            "There are at most " + std::to_string(most_redirect_uris) + " redirect_uris."
        );
    std::vector<std::string> uris;
    for (const json::value& each : *list) {
        const auto* text = each.if_string();
        if (!text || !RedirectUri::parse(*text, schemes))
            throw wrong_redirect(
                "A redirect URI is https, http on the loopback, or of a desktop program's scheme, "
                "without user and fragment."
            );
        uris.emplace_back(*text);
    }
    return uris;
}

std::string name_in(const json::object& from, const std::string& otherwise) {
    const json::value* value = from.if_contains("client_name");
    const auto* text = value ? value->if_string() : nullptr;
    if (value && !value->is_null() && !text) throw wrong("client_name is text.");
    std::string name = text ? shown_name(*text) : std::string();
    return name.empty() ? otherwise : name;
}

}  // namespace

ClientMetadata read_metadata(const json::value& value, const std::vector<std::string>& schemes) {
    const auto* from = value.if_object();
    if (!from) throw wrong("A client is described by a JSON object.");
    require_among(*from, "grant_types", "authorization_code");
    require_among(*from, "response_types", "code");
    ClientMetadata client;
    client.redirect_uris = redirect_uris_in(*from, schemes);
    client.name = name_in(*from, RedirectUri::parse(client.redirect_uris.front(), schemes)->host);
    return client;
}

ClientMetadata read_document(
    const json::value& value, const std::string& client_id, const std::vector<std::string>& schemes
) {
    ClientMetadata client = read_metadata(value, schemes);
    const auto& from = value.as_object();
    const json::value* id = from.if_contains("client_id");
    if (!id || *id != json::value(client_id)) throw wrong("Its client_id is not its address.");
    const json::value* method = from.if_contains("token_endpoint_auth_method");
    if (method && *method != json::value("none"))
        throw wrong("Clients are public here: token_endpoint_auth_method has to be none.");
    return client;
}

bool is_document_address(std::string_view client_id) {
    constexpr std::string_view scheme = "https://";
    if (!client_id.starts_with(scheme)) return false;
    if (!RedirectUri::parse(client_id, {})) return false;
    const auto slash = client_id.find('/', scheme.size());
    if (slash == client_id.npos || slash + 1 == client_id.size()) return false;
    if (client_id.find('@') != client_id.npos) return false;
    const auto path = client_id.substr(slash, client_id.find('?') - slash);
    return path.find("/./") == path.npos && path.find("/../") == path.npos &&
           !path.ends_with("/.") && !path.ends_with("/..");
}

std::string shown_name(std::string_view name) {
    std::string out;
    for (std::size_t count = 0; !name.empty() && count < longest_name;) {
        const Character each = first_of(name);
        const auto bytes = name.substr(0, each.size);
        name.remove_prefix(each.size);
        if (misleads(each.point) || (out.empty() && bytes == " ")) continue;
        out += bytes;
        ++count;
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

}  // namespace svc::oauth
