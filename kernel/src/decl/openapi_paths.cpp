#include "decl/openapi.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc::decl {

namespace {

using Place = Operation::Place;

std::string_view who_may(Access access) {
    switch (access) {
        case Access::anyone: return "anyone; no sign-in is needed.";
        case Access::me: return "any signed-in caller.";
        case Access::person: return "a person, by browser session or integration token.";
        case Access::member: return "any member of the workspace.";
        case Access::admin: return "an admin or owner of the workspace.";
        case Access::owner: return "an owner of the workspace.";
        case Access::board_viewer: return "anyone with view access to the board.";
        case Access::board_editor: return "anyone with edit access to the board.";
        case Access::board_admin: return "anyone with admin access to the board.";
    }
    return "";
}

std::string_view name_of(Place place) {
    switch (place) {
        case Place::path: return "path";
        case Place::query: return "query";
        case Place::header: return "header";
        case Place::body: return "body";
    }
    return "";
}

std::string_view describe(int status) {
    switch (status) {
        case 200: return "The result.";
        case 201: return "Created.";
        case 202: return "Accepted; it will be done.";
        case 204: return "Success; there is no body.";
        case 302: return "Redirects to the address in `Location`.";
        default: return "Success.";
    }
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}

// Writes one operation.
class Writer {
public:
    Writer(const Operation& operation, Components& components)
        : operation_(operation), components_(components) {
        each_declared(record(), [&](const Record&, const Field& field) {
            if (operation_.place(field) != Place::body) return;
            has_body_ = true;
            needs_body_ = needs_body_ || field.required();
        });
    }

    json::object write(std::string_view tag) {
        json::object out{
            {"tags", json::array{tag}},
            {"summary", operation_.summary},
            {"description", description()},
            {"operationId", operation_.name}};
        if (auto list = parameters(); !list.empty()) out["parameters"] = std::move(list);
        if (has_body_)
            out["requestBody"] = json::object{
                {"required", needs_body_},
                {"content", {{"application/json", {{"schema", components_.body(operation_)}}}}}};
        out["responses"] = responses();
        out["security"] = security();
        return out;
    }

private:
    const Record& record() const { return *operation_.handler.input; }
    bool is_post() const { return operation_.method() == "POST"; }
    bool writes() const { return !operation_.read_only(); }
    bool signed_in() const { return operation_.access != Access::anyone; }
    bool in_workspace() const { return operation_.access > Access::person; }

    std::string description() const {
        std::string text(operation_.description);
        if (!text.empty()) text += "\n\n";
        return text.append("**Access:** ").append(who_may(operation_.access));
    }

    json::array parameters() {
        json::array list;
        const auto shared = [&](std::string_view name) {
            list.push_back(json::object{{"$ref", "#/components/parameters/" + std::string(name)}});
        };
        // Text cannot be null, so null is not shown.
        SchemaWriter& writer = components_.input;
        writer.brief = true;
        each_declared(record(), [&](const Record& owner, const Field& field) {
            const Place place = operation_.place(field);
            if (place == Place::body || field.rules.read_only || field.codec->constant) return;
            list.push_back(parameter(owner, field, place));
        });
        writer.brief = false;
        if (operation_.names_org) shared("Workspace");
        if (is_post() && writes()) shared("IdempotencyKey");
        if (writes() && in_workspace()) shared("Mutation");
        if (operation_.versioned) shared("IfMatch");
        if (operation_.under_lease) shared("Lease");
        // Whoever is sent here by a provider's redirect cannot name a version.
        if (operation_.path().starts_with("/v1/") && !operation_.is_redirect())
            shared("BoardVersion");
        return list;
    }

    json::object parameter(const Record& owner, const Field& field, Place place) {
        json::object schema;
        components_.input.field(owner, field, schema);
        json::object out{
            {"name", place == Place::header ? field.rules.header : field.name},
            {"in", decl::name_of(place)},
            {"required", field.required()}};
        if (auto* text = schema.if_contains("description")) {
            out["description"] = std::move(*text);
            schema.erase("description");
        }
        out["schema"] = std::move(schema);
        return out;
    }

    json::object success(int status) {
        json::object out{{"description", describe(status)}};
        const Output& output = operation_.handler.output;
        out["headers"] = headers(status);
        if (status == 204 || status / 100 == 3 || (!output.codec && !output.item)) return out;
        json::object schema;
        if (output.item) schema = components_.page(*output.item);
        else output.codec->schema(components_.output, {}, schema);
        out["content"] = json::object{{"application/json", {{"schema", std::move(schema)}}}};
        return out;
    }

    json::object headers(int status) const {
        json::object out = answer_headers(signed_in());
        const auto shared = [&](std::string_view header, std::string_view name) {
            out[header] = json::object{{"$ref", "#/components/headers/" + std::string(name)}};
        };
        if (status / 100 == 3)
            out["Location"] = json::object{
                {"description", "Where to go on."},
                {"schema", {{"type", "string"}, {"format", "uri-reference"}}}};
        if (operation_.handler.output.versioned) shared("ETag", "ETag");
        if (is_post() && writes() && signed_in())
            shared("Idempotency-Replayed", "IdempotencyReplayed");
        return out;
    }

    json::object responses() {
        json::object out;
        out[std::to_string(operation_.status)] = success(operation_.status);
        for (int status : operation_.also) out[std::to_string(status)] = success(status);
        if (operation_.is_redirect()) return out;
        for (int status : refused_with()) out[std::to_string(status)] = refusal(status);
        return out;
    }

    std::vector<int> refused_with() const {
        const bool has_path = operation_.path().find('{') != std::string_view::npos;
        std::vector<int> list;
        const auto add = [&](int status, bool may_be) {
            if (may_be) list.push_back(status);
        };
        add(400, operation_.path().starts_with("/v1/"));
        add(401, signed_in());
        // What anybody may do can still be about a workspace: accepting an invitation to it.
        add(402, (in_workspace() || operation_.access == Access::me) && writes());
        // A token may be limited to other operations, and X-Svc-Org may name no workspace of
        // theirs.
        add(403, signed_in() || !operation_.guards.empty());
        add(404, signed_in() || has_path);
        add(409, writes());
        add(412, operation_.versioned);
        add(413, true);
        add(415, has_body_);
        add(422, true);
        add(429, true);
        add(503, true);
        add(504, true);
        list.insert(list.end(), operation_.refuses.begin(), operation_.refuses.end());
        std::ranges::sort(list);
        return list;
    }

    json::array security() const {
        if (!signed_in()) return {};
        return {
            json::object{{"bearerAuth", json::array()}},
            json::object{{"sessionCookie", json::array()}}};
    }

    const Operation& operation_;
    Components& components_;
    bool has_body_ = false;
    bool needs_body_ = false;
};

}  // namespace

json::object write_paths(const OpenApiInput& in, Components& components) {
    json::object paths;
    for (const auto& entry : in.operations) {
        const Operation& operation = *entry.operation;
        json::value& path = paths[operation.path()];
        if (!path.is_object()) path.emplace_object();
        path.get_object()[lower(operation.method())] =
            Writer(operation, components).write(entry.tag);
    }
    return paths;
}

}  // namespace svc::decl
