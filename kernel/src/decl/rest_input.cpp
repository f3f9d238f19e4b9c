#include "decl/json.hpp"
#include "decl/reader.hpp"
#include "decl/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc::decl {

namespace {

using Place = Operation::Place;

// application/json, application/…+json, or nothing said.
bool may_be_json(std::string_view type) {
    return type.empty() || type == "application/json" ||
           (type.starts_with("application/") && type.ends_with("+json"));
}

struct Pair {
    std::string name;
    std::string value;
};

// The decoded pairs of a query; the malformed ones are recorded at their place.
std::vector<Pair> read_query(Reader& reader, std::string_view query) {
    std::vector<Pair> pairs;
    while (!query.empty()) {
        const std::string_view part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), part.size() + 1));
        if (part.empty()) continue;
        const std::string_view raw_name = part.substr(0, part.find('='));
        const std::string_view raw_value = part.substr(std::min(part.size(), raw_name.size() + 1));
        auto name = http::decode(raw_name, http::Decode::query);
        auto value = http::decode(raw_value, http::Decode::query);
        if (name && value) {
            pairs.push_back({std::move(*name), std::move(*value)});
        } else {
            auto step = reader.at(name ? std::string_view(*name) : raw_name);
            reject_value(reader, "A percent escape does not spell UTF-8 text", nullptr);
        }
    }
    return pairs;
}

// A field that travels outside the body, and what came of it.
struct Outside {
    const Field* field;
    Place place;
    std::string_view name;  // as the client knows it
    std::optional<json::value> value;

    const json::value* sent() const { return value ? &*value : nullptr; }

    void add(json::value text) {
        if (!value && field->codec->list) value = json::array{std::move(text)};
        else if (!value) value = std::move(text);
        else if (auto* list = value->if_array()) list->push_back(std::move(text));
        else value = json::array{std::move(*value), std::move(text)};  // to be refused by type
    }
};

}  // namespace

struct RestInput::State {
    const Operation& operation;
    std::vector<Outside> outside{};
    std::optional<json::value> body{};
    bool takes_body = false, body_needed = false;

    const Record& record() const { return *operation.handler.input; }

    void list_fields() {
        each_field(record(), nullptr, [&](const Field& field, void*) {
            if (field.codec->constant || field.rules.read_only) return;
            const Place place = operation.place(field);
            const auto name = place == Place::header ? field.rules.header : field.name;
            if (place == Place::body) {
                takes_body = true;
                body_needed = body_needed || field.required();
            } else outside.push_back({&field, place, name, std::nullopt});
        });
    }

    Outside* find(Place place, std::string_view name) {
        const auto found = std::ranges::find_if(outside, [&](const Outside& each) {
            return each.place == place && each.name == name;
        });
        return found == outside.end() ? nullptr : &*found;
    }

    void take_path(const Parts& parts) {
        for (const auto& [name, value] : parts.path)
            if (Outside* found = find(Place::path, name)) found->add(json::string(value));
    }

    void take_query(Reader& reader, std::string_view query) {
        for (const Pair& pair : read_query(reader, query)) {
            json::value text = json::string(pair.value);
            if (Outside* found = find(Place::query, pair.name)) {
                found->add(std::move(text));
                continue;
            }
            if (operation.is_redirect()) continue;  // what the other site adds is its own affair
            // Passing over it would answer another question than the one that was asked.
            auto step = reader.at(std::string_view(pair.name));
            reader.reject("extra_forbidden", "There is no such parameter", &text);
        }
    }

    void take_headers(Reader& reader, const http::Request& request) {
        for (Outside& each : outside) {
            if (each.place != Place::header || !request.has(each.name)) continue;
            const std::string_view value = request.header(each.name);
            auto step = reader.at(each.name);
            if (utf8::well_formed(value)) each.add(json::string(value));
            else reject_value(reader, "The header is not UTF-8 text", nullptr);
        }
    }

    void take_body(Reader& reader, const http::Request& request) {
        if (request.body.empty()) return;
        if (!http::is_plain_utf8(request))
            throw Failure(
                Fault::unsupported_media,
                "The body has to be JSON in UTF-8, as it is: without a Content-Encoding, and with "
                "no "
                "other charset."
            );
        if (!may_be_json(http::media_type(request)))
            return reader.reject(
                "model_attributes_type", "Should be JSON, sent as application/json"
            );
        JsonLimits limits;  // an operation that takes a larger body takes more values in it
        limits.tokens *= std::max<std::size_t>(1, operation.body_limit >> 20);
        const std::size_t room = request.body.size() + 1024;
        auto parsed = parse_strictly(
            request.body, limits, json::make_shared_resource<json::monotonic_resource>(room)
        );
        if (parsed.problem) reject_json(reader, *parsed.problem);
        else if (takes_body || !parsed.value.is_null()) body.emplace(std::move(parsed.value));
    }

    // Checks what travels in one place, or reads it when there is an `input`.
    void read_outside(Reader& reader, Place place, void* input) const {
        each_field(record(), input, [&](const Field& field, void* owner) {
            const auto found = std::ranges::find(outside, &field, &Outside::field);
            if (found == outside.end() || found->place != place) return;
            auto step = reader.at(found->name);
            reader.read_field(field, found->sent(), owner);
        });
    }

    // Likewise the body.
    void read_body(Reader& reader, void* input) const {
        if (!body && body_needed) return reader.reject("missing", "A body is required");
        if (!body) return;
        const auto* object = body->if_object();
        if (!object) return reject_shape(reader, record(), *body);
        each_field(record(), input, [&](const Field& field, void* owner) {
            if (operation.place(field) != Place::body) return;
            auto step = reader.at(field.name);
            reader.read_field(field, object->if_contains(field.name), owner);
        });
        for (const auto& [key, value] : *object) {
            const Field* known = record().find(key);
            if (known && operation.place(*known) == Place::body) continue;
            auto step = reader.at(std::string_view(key));
            reject_unknown(reader, record(), value);
        }
    }
};

RestInput::RestInput(const Operation& operation, const Parts& parts)
    : state_(std::make_unique<State>(State{operation})) {
    State& state = *state_;
    const http::Request& request = *parts.request;
    state.list_fields();
    state.take_path(parts);
    Reader reader;
    reader.loose = true;
    {
        auto step = reader.at("path");
        state.read_outside(reader, Place::path, nullptr);
    }
    {
        auto step = reader.at("query");
        state.take_query(reader, request.query);
        state.read_outside(reader, Place::query, nullptr);
    }
    {
        auto step = reader.at("header");
        state.take_headers(reader, request);
        state.read_outside(reader, Place::header, nullptr);
    }
    reader.loose = false;
    auto step = reader.at("body");
    const bool clean_outside = reader.clean();
    state.take_body(reader, request);
    if (reader.clean()) return;
    // It ends here, so say what is wrong with the body, too.
    if (!clean_outside && (state.body || request.body.empty())) state.read_body(reader, nullptr);
    throw Failure::invalid_input(reader.issues());
}

RestInput::~RestInput() = default;

void RestInput::fill(void* input) const {
    Reader reader;
    reader.loose = true;
    for (const Place place : {Place::path, Place::query, Place::header})
        state_->read_outside(reader, place, input);
    reader.loose = false;
    auto step = reader.at("body");
    state_->read_body(reader, input);
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
}

namespace {

/// Takes the one field of such a record out of the arguments.
template <class Beside>
Beside taken(json::value& arguments) {
    Beside wanted;
    json::object* given = arguments.if_object();
    const Record& record = record_of<Beside>();
    const auto found = given ? given->find(record.fields.front().name) : nullptr;
    if (!given || found == given->end()) return wanted;
    const json::value alone = json::object{{found->key(), found->value()}};
    given->erase(found);
    Reader reader;
    auto step = reader.at("arguments");
    reader.read(record, alone, &wanted);
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
    return wanted;
}

}  // namespace

std::optional<std::int64_t> take_expected_version(
    const Operation& operation, json::value& arguments
) {
    if (!operation.versioned) return std::nullopt;
    return taken<VersionExpected>(arguments).expected_version;
}

std::string take_named_lease(const Operation& operation, json::value& arguments) {
    if (!operation.under_lease) return {};
    return taken<LeaseNamed>(arguments).lease_token.value_or("");
}

void fill_flat(const Operation& operation, const json::value& arguments, void* input) {
    static const json::value nothing = json::object();
    Reader reader;
    auto step = reader.at("arguments");
    reader.read(*operation.handler.input, arguments.is_null() ? nothing : arguments, input);
    if (!reader.clean()) throw Failure::invalid_input(reader.issues());
}

}  // namespace svc::decl
