#include "decl/openapi.hpp"

#include "decl/json.hpp"
#include "svc/version.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

namespace svc::decl {

namespace {

// What the interface has said from the beginning: versions are told apart by the header.
constexpr std::string_view interface_version = "0.0.0";

json::object info(const OpenApiInput& in) {
    return {
        {"title", "Workboard"},
        {"version", interface_version},
        {"x-server-version", SVC_VERSION},
        {"summary", "A kanban work board for people and programs."},
        {"description",
         "Workspaces hold boards, boards hold columns and cards, and a column can be a durable "
         "work queue. Every operation here is also an MCP tool of the same name, where one "
         "exists.\n\nEvery request under `/v1` names a version in `" +
             std::string(version_header) +
             "`. Errors are JSON with a `code` for programs and a `message` for people: "
             "[all codes and reasons](/docs/errors). Here is [what has changed](/docs/changes)."},
        {"contact", {{"name", "Workboard"}, {"url", in.base_url}}},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}};
}

// The tags that operations have, by name, with what is known of them.
json::array tags(const OpenApiInput& in) {
    std::map<std::string, std::string> described;
    for (const auto& entry : in.operations) described.try_emplace(entry.tag, entry.tag);
    for (const auto& tag : in.tags)
        if (const auto used = described.find(tag.name);
            used != described.end() && !tag.description.empty())
            used->second = tag.description;
    json::array list;
    for (const auto& [name, description] : described)
        list.push_back(json::object{{"name", name}, {"description", description}});
    return list;
}

std::set<std::string> refs_in(json::value value) {
    std::set<std::string> refs;
    each_ref(value, [&](json::value& ref) { refs.emplace(std::string_view(ref.get_string())); });
    return refs;
}

// Takes out of a kind of shared parts what nothing refers to.
void keep(json::object& parts, const std::string& kind, const std::set<std::string>& refs) {
    json::object kept;
    for (auto& [name, part] : parts[kind].get_object())
        if (refs.contains("#/components/" + kind + "/" + std::string(name))) kept[name] = part;
    parts[kind] = std::move(kept);
}

}  // namespace

std::string openapi(const OpenApiInput& in) {
    Components components;
    json::value paths = write_paths(in, components);
    json::object schemas = components.finish(paths);
    add_examples(paths, schemas, in.recorded);
    add_error_schemas(schemas);
    json::object parts{{"schemas", std::move(schemas)}};
    add_shared_parts(parts);
    add_refusals(paths, parts, in.refusals);
    auto refs = refs_in(paths);
    keep(parts, "parameters", refs);
    keep(parts, "responses", refs);
    refs.merge(refs_in(parts["responses"]));
    keep(parts, "headers", refs);
    const json::value document = json::object{
        {"openapi", "3.1.0"},
        {"info", info(in)},
        {"servers", json::array{json::object{{"url", in.base_url}}}},
        {"tags", tags(in)},
        {"paths", std::move(paths)},
        {"components", std::move(parts)}};
    std::string text;
    write_value(document, text);
    return text;
}

}  // namespace svc::decl
