#include "modules/content/lib/payloads.hpp"

#include <boost/json/value.hpp>

#include <array>

namespace svc::content {

namespace {

/// Calls `each(name, texts)` for every rich text of a payload.
template <class T, class Each>
void each_text(T& payload, const Each& each) {
    if constexpr (requires { payload.rich_text; }) each("rich_text", payload.rich_text);
    if constexpr (requires { payload.caption; }) each("caption", payload.caption);
}

void reject(Reader& reader, std::string_view field, const std::string& why) {
    auto step = reader.at(field);
    reader.reject("value_error", why);
}

/// A file is elsewhere or here, and here it is called by one name.
template <class T>
void normalize_file(Reader& reader, T& payload) {
    const int given =
        payload.external.has_value() + payload.file.has_value() + payload.file_upload.has_value();
    if (given != 1) return reject(reader, "type", "give one of external, file and file_upload");
    if (payload.file_upload) payload.file = KeptFile{payload.file_upload->id, {}};
    payload.file_upload.reset();
    const MediaType found = payload.external ? MediaType::external : MediaType::file;
    if (payload.type == MediaType::file_upload) payload.type = MediaType::file;
    if (payload.type && *payload.type != found)
        return reject(reader, "type", "it does not name the member that is given");
    payload.type = found;
}

void normalize_icon(Reader& reader, std::optional<BlockIcon>& icon) {
    if (!icon) return;
    const int given = icon->emoji.has_value() + icon->external.has_value() +
                      icon->file_id.has_value() + icon->file_upload.has_value();
    if (given != 1)
        return reject(reader, "icon", "give one of emoji, external, file_id and file_upload");
    if (icon->file_upload) icon->file_id = icon->file_upload->id;
    icon->file_upload.reset();
    if (icon->type == IconType::file_upload) icon->type = IconType::file;
    const IconType found = icon->emoji      ? IconType::emoji
                           : icon->external ? IconType::external
                                            : IconType::file;
    if (icon->type && *icon->type != found)
        return reject(reader, "icon", "type does not name the member that is given");
    icon->type = found;
}

/// What the fields' rules cannot say.
template <class T>
void normalize_payload(Reader& reader, T& payload) {
    each_text(payload, [&](std::string_view name, RichTexts& texts) {
        auto step = reader.at(name);
        normalize(reader, texts);
    });
    if constexpr (requires { payload.cells; }) {
        auto step = reader.at("cells");
        for (std::size_t i = 0; i < payload.cells.size(); ++i) {
            auto cell = reader.at(i);
            normalize(reader, payload.cells[i]);
            if (payload.cells[i].size() > most_items)
                reader.reject("too_long", "Should have at most 100 items");
        }
    }
    if constexpr (requires { payload.file_upload; }) normalize_file(reader, payload);
    if constexpr (requires { payload.icon; }) normalize_icon(reader, payload.icon);
    if constexpr (requires { payload.width_ratio; })
        if (payload.width_ratio && *payload.width_ratio <= 0)
            reject(reader, "width_ratio", "it has to be above 0");
}

/// Calls `each(id)` for every uploaded file that a payload shows.
template <class T, class Each>
void each_file(const T& payload, const Each& each) {
    if constexpr (requires { payload.file_upload; })
        if (payload.file) each(payload.file->file_id);
    if constexpr (requires { payload.icon; })
        if (payload.icon && payload.icon->file_id) each(*payload.icon->file_id);
}

/// Has the payload say where the uploaded files are that it shows.
template <class T>
void put_addresses(T& payload, const Addresses& addresses) {
    const auto address_of = [&](const Uuid& file) {
        const auto found = addresses.find(file);
        return found == addresses.end() ? std::nullopt : std::optional(found->second);
    };
    if constexpr (requires { payload.file_upload; })
        if (payload.file)
            payload.file->address = address_of(payload.file->file_id).value_or(AttachedFile{});
    if constexpr (requires { payload.icon; })
        if (payload.icon && payload.icon->file_id)
            payload.icon->file = address_of(*payload.icon->file_id);
}

template <class T>
void collect_from_payload(T& payload, References& into) {
    each_text(payload, [&](std::string_view, RichTexts& texts) {
        collect_references(texts, into);
    });
    if constexpr (requires { payload.cells; })
        for (const RichTexts& cell : payload.cells) collect_references(cell, into);
    each_file(payload, [&](const Uuid& file) { into.files.push_back(file); });
    if constexpr (requires { payload.card_id; }) into.pages.push_back(payload.card_id);
}

/// As the database keeps it: without what is only for answers.
template <class T>
std::string stored(T& payload) {
    if constexpr (requires { payload.children; }) payload.children.reset();
    put_addresses(payload, {});
    std::string text;
    Json<T>::write(payload, text);
    return text;
}

template <class T>
std::string read_payload(Reader& reader, const json::value& in, References& references) {
    T payload{};
    Json<T>::read(reader, {}, in, payload);
    normalize_payload(reader, payload);
    collect_from_payload(payload, references);
    return stored(payload);
}

template <class T>
Worded resolve_payload(const std::string& text, const ReferenceNames& names) {
    T payload = payload_as<T>(text);
    Worded out;
    const auto say = [&](const std::string& more) {
        if (!out.plain.empty() && !more.empty()) out.plain += '\n';
        out.plain += more;
    };
    each_text(payload, [&](std::string_view, RichTexts& texts) {
        content::resolve(texts, names);
        say(plain_text_of(texts));
    });
    if constexpr (requires { payload.cells; })
        for (RichTexts& cell : payload.cells) {
            content::resolve(cell, names);
            say(plain_text_of(cell));
        }
    if constexpr (requires {
                      payload.file;
                      payload.name;
                  })
        if (payload.file && payload.name.empty()) {
            const auto found = names.files.find(payload.file->file_id);
            if (found != names.files.end()) payload.name = found->second;
        }
    if constexpr (requires { payload.expression; }) say(payload.expression);
    if constexpr (requires { payload.name; }) say(payload.name);
    if constexpr (requires { payload.url; }) say(payload.url.str());
    out.payload = stored(payload);
    return out;
}

template <class T>
std::string address_payload(const std::string& text, const Addresses& addresses) {
    T payload = payload_as<T>(text);
    put_addresses(payload, addresses);
    std::string out;
    Json<T>::write(payload, out);
    return out;
}

template <class T, Below below>
constexpr PayloadKind make_kind() {
    // As client libraries send them: within the payload.
    static_assert(below == Below::nothing || requires(T payload) { payload.children; });
    return {&codec<T>, below, &read_payload<T>, &resolve_payload<T>, &address_payload<T>};
}
template <class T, Below below>
constexpr PayloadKind kind = make_kind<T, below>();

}  // namespace

const PayloadKind& kind_of(BlockType type) {
#define SVC_KIND(name, Payload, below) &kind<Payload, Below::below>,
    static constexpr std::array<const PayloadKind*, block_types> kinds{SVC_BLOCK_TYPES(SVC_KIND)};
#undef SVC_KIND
    return *kinds[static_cast<std::size_t>(type)];
}

}  // namespace svc::content
