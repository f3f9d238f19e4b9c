#include "decl/openapi.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

namespace svc::decl {

namespace {

json::object reference(std::string_view prefix, std::string_view name) {
    return {{"$ref", std::string(prefix) + std::string(name)}};
}

std::string page_name(const Record& item) {
    return "PaginatedResponse_" + std::string(item.name) + "_";
}

}  // namespace

json::object Components::body(const Operation& operation) {
    const std::string name(operation.name);
    if (!bodies_.contains(name)) {
        json::object schema;
        object_schema(input, *operation.handler.input, schema, [&](const Field& field) {
            return operation.place(field) == Operation::Place::body;
        });
        bodies_[name] = {std::string(operation.handler.input->name), std::move(schema)};
    }
    return reference("#body/", name);
}

json::object Components::page(const Record& item) {
    std::string quoted = object_name(item);
    const std::string object = quoted.substr(1, quoted.size() - 2);
    json::object results{{"type", "array"}, {"description", "This page of the list."}};
    output.reference(item, results["items"].emplace_object());
    const json::object text{{"type", "string"}}, null{{"type", "null"}};
    json::object properties{
        {"object", {{"type", "string"}, {"const", "list"}, {"description", "Always \"list\"."}}},
        {"type", {{"type", "string"}, {"const", object}, {"description", "What `results` hold."}}},
        {object, {{"type", "object"}, {"additionalProperties", true}, {"description", "Empty."}}},
        {"results", std::move(results)},
        {"next_cursor",
         {{"anyOf", json::array{text, null}},
          {"description", "Send it as `start_cursor` for the page after; null on the last one."}}},
        {"has_more", {{"type", "boolean"}, {"description", "Whether there is a page after."}}},
        {"request_id", {{"type", "string"}, {"description", "The request's id."}}}};
    json::array required;
    for (const auto& [key, value] : properties) required.emplace_back(key);
    outputs_[page_name(item)] = json::object{
        {"type", "object"},
        {"properties", std::move(properties)},
        {"required", std::move(required)}};
    return reference("#out/", page_name(item));
}

// Writes every record that was mentioned; writing one may mention another.
void Components::complete(SchemaWriter& writer, Schemas& schemas) {
    for (bool more = true; std::exchange(more, false);)
        for (const auto& [name, record] : std::map(writer.mentioned)) {
            if (schemas.contains(name)) continue;
            json::object schema;
            writer.record(*record, schema);
            schemas[name] = std::move(schema);
            more = true;
        }
}

// A body bears its record's name, unless another one has it already.
void Components::name_bodies() {
    for (auto& [operation, body] : bodies_) {
        const auto [known, added] = inputs_.emplace(body.record, body.schema);
        const bool ours = added || known->second == body.schema;
        body_names_[operation] = ours ? body.record : "Body_" + operation;
        if (!ours) inputs_["Body_" + operation] = body.schema;
    }
}

void Components::find_differing() {
    for (bool more = true; std::exchange(more, false);)
        for (const auto& [name, schema] : inputs_) {
            const auto other = outputs_.find(name);
            if (other == outputs_.end() || differing_.contains(name)) continue;
            if (named(schema) == named(other->second)) continue;
            differing_.insert(name);
            more = true;
        }
}

std::string Components::name_of(std::string_view reference) const {
    const std::size_t slash = reference.find('/');
    const std::string_view side = reference.substr(0, slash);
    std::string name(reference.substr(slash + 1));
    if (side == "#body") name = body_names_.at(name);
    else if (side != "#in") return name;
    return differing_.contains(name) ? name + "-Input" : name;
}

json::value Components::named(json::value schema) const {
    each_ref(schema, [&](json::value& ref) {
        const std::string_view text = ref.get_string();
        if (text.starts_with("#in/") || text.starts_with("#out/") || text.starts_with("#body/"))
            ref = "#/components/schemas/" + name_of(text);
    });
    return schema;
}

json::object Components::finish(json::value& paths) {
    complete(input, inputs_);
    complete(output, outputs_);
    name_bodies();
    find_differing();
    paths = named(std::move(paths));
    Schemas all;
    for (const auto& [name, schema] : inputs_) all[name_of("#in/" + name)] = named(schema);
    for (const auto& [name, schema] : outputs_) all[name] = named(schema);
    json::object sorted;
    for (auto& [name, schema] : all) sorted[name] = std::move(schema);
    return sorted;
}

}  // namespace svc::decl
