#include "events/envelope.hpp"

#include "svc/call.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::events {

namespace {

/// Left for everything in the envelope that is not changes or previous.
constexpr std::size_t values_limit = envelope_limit - (8 << 10);
constexpr std::string_view stand_in = R"({"truncated":true})";

json::object parse_values(const std::string& text) {
    json::parse_options options;
    options.max_depth = 512;  // as deep as a module cares to nest
    return json::parse(text, {}, options).as_object();
}

/// How long each field is in both objects together, the longest first.
std::vector<std::pair<std::size_t, std::string>> by_length(
    const json::object& changes, const json::object& previous
) {
    std::map<std::string, std::size_t> lengths;
    for (const json::object* values : {&changes, &previous})
        for (const auto& [key, value] : *values)
            lengths[std::string(key)] += json::serialize(value).size();
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (auto& [key, length] : lengths) sorted.emplace_back(length, key);
    std::ranges::sort(sorted, std::greater<>());
    return sorted;
}

void replace(json::object& values, const std::string& key) {
    if (json::value* value = values.if_contains(key)) *value = json::object{{"truncated", true}};
}

}  // namespace

std::optional<JsonText> json_of(const std::optional<EventPlace>& place) {
    return place ? std::optional(JsonText{to_json(*place)}) : std::nullopt;
}

PlaceIds place_of(const Event& event) {
    const EventKind& kind = *event.kind;
    PlaceIds ids{event.board_id, event.column_id, event.card_id, event.parent_id};
    if (kind.object == "board") ids.board_id = event.id;
    if (kind.object == "column") ids.column_id = event.id;
    if (kind.object == "card") ids.card_id = event.id;
    const unsigned has = (ids.board_id ? at::board : 0) | (ids.column_id ? at::column : 0) |
                         (ids.card_id ? at::card : 0) | (ids.parent_id ? at::parent : 0) |
                         (event.from && event.to ? at::move : 0);
    if (kind.record && has != kind.at)
        throw std::logic_error(
            "an event " + std::string(kind.name) + " with another place than its kind declares"
        );
    return ids;
}

EventActor actor_of(const Caller* caller, Surface surface) {
    if (!caller) return {.name = "System", .via = surface};
    EventActor actor{
        .principal_type = caller->type,
        .id = caller->id,
        .name = caller->name,
        .token_id = caller->token_id,
        .via = surface,
    };
    if (!caller->is_person()) actor.on_behalf_of_user_id = caller->user_id;
    return actor;
}

Values bounded(const std::string& changes, const std::string& previous) {
    if (changes.size() + previous.size() <= values_limit) return {changes, previous, {}};
    json::object new_values = parse_values(changes), old_values = parse_values(previous);
    std::size_t size = changes.size() + previous.size();
    Values values;
    for (const auto& [length, field] : by_length(new_values, old_values)) {
        const std::size_t replaced =
            stand_in.size() * (new_values.contains(field) + old_values.contains(field));
        if (size <= values_limit || length <= replaced) break;
        replace(new_values, field);
        replace(old_values, field);
        values.truncated_fields.push_back(field);
        size -= length - replaced;
    }
    values.changes = json::serialize(new_values);
    values.previous = json::serialize(old_values);
    if (values.changes.size() + values.previous.size() > values_limit)  // the names alone
        return {std::string(stand_in), "{}", {}};
    return values;
}

std::string bounded(const std::string& record) { return bounded(record, "{}").changes; }

}  // namespace svc::events

namespace svc {

std::string envelope_of(Call& call, const Event& event) {
    const auto values = events::bounded(event.changes, event.previous);
    const auto place = events::place_of(event);
    EventEnvelope envelope;
    envelope.kind = event.kind->name;
    envelope.org_id = event.org_id ? *event.org_id : call.org();
    envelope.board_id = place.board_id;
    envelope.actor = events::actor_of(call.caller_if_any(), call.surface());
    envelope.occurred_at = Timestamp::now();
    envelope.data = {
        .object = std::string(event.kind->object),
        .id = event.id,
        .version = event.version,
        .board_id = place.board_id,
        .column_id = place.column_id,
        .card_id = place.card_id,
        .parent_id = place.parent_id,
        .from = events::json_of(event.from),
        .to = events::json_of(event.to),
        .changes = {values.changes},
        .previous = {values.previous},
        .truncated_fields = values.truncated_fields,
    };
    return to_json(envelope);
}

}  // namespace svc
