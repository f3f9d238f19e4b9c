#include "svc/events.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc {

bool kind_matches(std::string_view filter, std::string_view kind) {
    if (filter == "*" || filter == kind) return true;
    if (!filter.ends_with(".*")) return false;
    return kind.starts_with(filter.substr(0, filter.size() - 1));
}

namespace {

using Gaps = std::span<const std::string_view>;

/// A mark in place of a value, in quotes where the value is.
void write_gap(std::string_view name, std::string_view value, std::string& out) {
    const std::string_view quote = value.starts_with('"') ? "\"" : "";
    out.append(quote).append("\x01").append(name).append("\x01").append(quote);
}

/// Appends the members of `from`, those of flattened records beside them, secrets left out.
void write_members(const Record& record, const void* from, std::string& out, Gaps gaps) {
    for (const Field& field : record.fields) {
        const void* value = field.in_const(from);
        if (field.rules.secret) continue;
        if (field.rules.omit_empty && field.codec->empty(value)) continue;
        if (field.rules.flatten && field.codec->record) {
            write_members(field.codec->record(), value, out, gaps);
            continue;
        }
        if (out.back() != '{') out += ',';
        write_text(field.name, out);
        out += ':';
        if (std::ranges::find(gaps, field.name) == gaps.end()) {
            field.codec->write(value, out);
            continue;
        }
        std::string text;
        field.codec->write(value, text);
        write_gap(field.name, text, out);
    }
}

/// What people call the thing: the first of these fields that is text.
std::optional<std::string> name_in(const Record& record, const void* from) {
    for (const std::string_view each : {"title", "name", "key"})
        for (const Field& field : record.fields) {
            if (field.name != each || field.rules.secret || field.rules.flatten) continue;
            std::string text;
            field.codec->write(field.in_const(from), text);
            if (text.starts_with('"')) return std::string(json::parse(text).as_string());
        }
    return std::nullopt;
}

}  // namespace

std::string text_with_gaps(const Record& record, const void* from, Gaps gaps) {
    std::string out = "{";
    write_members(record, from, out, gaps);
    return out += '}';
}

namespace detail {

Event make_event(
    const EventKind& kind,
    const Uuid& id,
    std::int64_t version,
    const Record& record,
    const void* before,
    const void* after,
    Gaps gaps
) {
    Event event;
    event.kind = &kind;
    event.id = id;
    event.version = version;
    event.name = name_in(record, after);
    if (before) {
        event.changes.clear();
        event.previous.clear();
        write_difference(record, before, after, event.changes, event.previous, &event.subject);
    } else {
        event.changes = text_with_gaps(record, after, gaps);
        event.subject = event.changes;
    }
    return event;
}

}  // namespace detail

}  // namespace svc
