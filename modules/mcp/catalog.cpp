#include "modules/mcp/catalog.hpp"

#include "modules/mcp/json_rpc.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace svc::mcp {

namespace {

/// "Claim next card" for claim_next_card.
std::string title_of(std::string_view name) {
    std::string title(name);
    std::ranges::replace(title, '_', ' ');
    if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] -= 'a' - 'A';
    return title;
}

std::string description_of(const Operation& operation) {
    std::string text(operation.summary);
    if (!operation.description.empty()) (text += "\n\n") += operation.description;
    return text;
}

void add_member(std::string_view name, bool flag, std::string& out) {
    if (out.back() != '{') out += ',';
    write_text(name, out);
    out += flag ? ":true" : ":false";
}

/// All four hints, always: a missing one counts as the worst.
std::string annotations_of(const Operation& operation) {
    std::string out = "{";
    add_member("readOnlyHint", operation.read_only(), out);
    add_member("destructiveHint", operation.destructive, out);
    add_member("idempotentHint", operation.idempotent || operation.read_only(), out);
    add_member("openWorldHint", false, out);
    return out + '}';
}

/// True for a schema of any value at all, and for lists and maps of such.
bool takes_any_value(const json::object& schema) {
    if (const auto* choices = schema.if_contains("anyOf"))
        return std::ranges::any_of(choices->as_array(), [](const json::value& each) {
            return takes_any_value(each.as_object());
        });
    for (const char* inner : {"items", "additionalProperties"})
        if (const auto* elements = schema.if_contains(inner); elements && elements->is_object())
            return takes_any_value(elements->get_object());
    return std::ranges::none_of(
        std::initializer_list<const char*>{"type", "$ref", "enum", "const"},
        [&](const char* word) { return schema.contains(word); }
    );
}

/// The names of members that hold JSON whose shape is nobody's business here.
std::set<std::string> opaque_members(const Output& output) {
    SchemaWriter writer{.ref_prefix = "#/", .for_output = true};
    json::object ignored;
    if (output.item) writer.reference(*output.item, ignored);
    else if (output.codec) output.codec->schema(writer, Rules{}, ignored);

    std::set<std::string> names;
    std::set<std::string> looked_into;
    for (bool more = true; std::exchange(more, false);)
        for (const auto& [name, record] : std::map(writer.mentioned)) {
            if (!looked_into.insert(name).second) continue;
            more = true;
            for (const Field& field : record->fields) {
                json::object schema;
                writer.field(*record, field, schema);
                if (takes_any_value(schema)) names.emplace(field.name);
            }
        }
    return names;
}

Tool make_tool(const Kernel& kernel, const Declared& declared) {
    const Operation& operation = *declared.operation;
    const std::string schema = kernel.tool_schema(operation);
    Tool tool{&declared, "{", "{", opaque_members(operation.handler.output)};

    std::string both = "\"name\":";
    write_text(operation.name, both);
    both += ",\"description\":";
    write_text(description_of(operation), both);

    tool.manifest_entry += both + ",\"input_schema\":" + schema + '}';
    tool.definition += both + ",\"title\":";
    write_text(title_of(operation.name), tool.definition);
    tool.definition += ",\"inputSchema\":" + schema;
    tool.definition += ",\"annotations\":" + annotations_of(operation) + '}';
    return tool;
}

std::string instructions_for(const Kernel& kernel) {
    std::string text =
        "Workboard is a kanban board that programs and people work on together: workspaces hold "
        "boards, boards hold columns and cards. Everything you do is recorded under your own "
        "name. Lists come in pages: pass `next_cursor` as `start_cursor` while `has_more` is "
        "true. Null fields are omitted from results.";
    if (kernel.find_operation("claim_next_card"))
        text +=
            " A column can be a work queue: claim_next_card leases its next card to you and gives "
            "a lease_token; read get_card_context for what is to be done, do the work, then call "
            "complete_lease or fail_lease with the token. A lease that runs out goes back to the "
            "queue, so renew it while you work.";
    return text;
}

bool contains(const std::vector<std::string_view>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> out;
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        auto each = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        const auto first = each.find_first_not_of(" \t");
        if (first == std::string_view::npos) continue;
        out.push_back(each.substr(first, each.find_last_not_of(" \t") + 1 - first));
    }
    return out;
}

}  // namespace

Narrowing Narrowing::of(const http::Request& request) {
    const auto flag = request.header("x-mcp-readonly");
    Narrowing narrowing;
    narrowing.read_only = request.has("x-mcp-readonly") && flag != "false" && flag != "0";
    narrowing.toolsets = split(request.header("x-mcp-toolsets"));
    narrowing.tools = split(request.header("x-mcp-tools"));
    narrowing.picky = !narrowing.toolsets.empty() || !narrowing.tools.empty();
    if (contains(narrowing.toolsets, "all")) narrowing.picky = false;
    return narrowing;
}

bool Narrowing::admits(const Declared& declared) const {
    if (read_only && !declared.operation->read_only()) return false;
    return !picky || contains(toolsets, declared.tag) || contains(tools, declared.operation->name);
}

Catalog::Catalog(Kernel& kernel) : instructions_(instructions_for(kernel)) {
    for (const Declared& each : kernel.operations())
        if (each.operation->tool) tools_.push_back(make_tool(kernel, each));
}

bool Catalog::shows(const Tool& tool, const Caller& caller, const Narrowing& narrowing) {
    const Operation& operation = *tool.declared->operation;
    return admits(operation.access, caller) && (!operation.for_people || caller.is_person()) &&
           narrowing.admits(*tool.declared);
}

std::set<std::string_view> Catalog::toolsets() const {
    std::set<std::string_view> names;
    for (const Tool& each : tools_) names.insert(each.declared->tag);
    return names;
}

Narrowing Catalog::narrowing(const http::Request& request) const {
    Narrowing narrowing = Narrowing::of(request);
    const auto known = toolsets();
    for (const std::string_view each : narrowing.toolsets) {
        if (each == "all" || known.contains(each)) continue;
        std::string list;
        for (const std::string_view name : known) (list += list.empty() ? "" : ", ") += name;
        throw RpcError(
            Code::invalid_request,
            "There is no toolset `" + std::string(each) + "`. There are: all, " + list + ".",
            400
        );
    }
    return narrowing;
}

const Tool* Catalog::find(std::string_view name, const Narrowing& narrowing) const {
    const auto found = std::ranges::find(tools_, name, &Tool::name);
    return found != tools_.end() && narrowing.admits(*found->declared) ? &*found : nullptr;
}

std::string Catalog::list(const Caller& caller, const Narrowing& narrowing) const {
    std::string out = "[";
    for (const Tool& each : tools_) {
        if (!shows(each, caller, narrowing)) continue;
        if (out.size() > 1) out += ',';
        out += each.definition;
    }
    return out + ']';
}

std::string Catalog::manifest(const std::string& base_url) const {
    constexpr std::string_view path = "/v1/mcp/http";
    std::string out = R"({"object":"mcp_manifest","server":{"name":"workboard","instructions":)";
    write_text(instructions_, out);
    out += R"(},"transports":[{"type":"streamable-http","path":)";
    write_text(path, out);
    out += ",\"url\":";
    write_text(base_url + std::string(path), out);
    out += R"(,"status":"recommended"}],"tools":[)";
    for (const Tool& each : tools_) {
        if (&each != tools_.data()) out += ',';
        out += each.manifest_entry;
    }
    return out + "]}";
}

}  // namespace svc::mcp
