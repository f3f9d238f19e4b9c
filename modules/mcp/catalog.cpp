#include "modules/mcp/catalog.hpp"

#include "modules/mcp/json_rpc.hpp"

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

/// Whether a sentence tells of a refusal, which says itself what it is when it comes.
bool tells_of_refusals(std::string_view sentence) {
    if (sentence.find("reason `") != sentence.npos) return true;
    for (auto at = sentence.find('4'); at != sentence.npos; at = sentence.find('4', at + 1)) {
        const auto is_digit = [&](std::size_t i) {
            return i < sentence.size() && sentence[i] >= '0' && sentence[i] <= '9';
        };
        if (!is_digit(at - 1) && is_digit(at + 1) && is_digit(at + 2) && !is_digit(at + 3) &&
            sentence[at + 1] <= '2')
            return true;
    }
    return false;
}

/// The summary, and the first of what else there is to know before one calls it; of what workers
/// need, all of it.
std::string description_of(const Operation& operation) {
    constexpr std::size_t enough = 100;
    std::string text(operation.summary);
    if (!text.ends_with('.')) text += '.';
    std::string_view rest = operation.description;
    while (!rest.empty() && (operation.worker || text.size() < enough)) {
        const auto end = rest.find(". ");
        const auto sentence = rest.substr(0, end == rest.npos ? end : end + 1);
        rest.remove_prefix(std::min(sentence.size() + 1, rest.size()));
        if (!tells_of_refusals(sentence)) (text += ' ') += sentence;
    }
    return text;
}

void add_member(std::string_view name, bool flag, std::string& out) {
    if (out.back() != '{') out += ',';
    write_text(name, out);
    out += flag ? ":true" : ":false";
}

/// All four hints, always: a missing one counts as the worst. What is deleted already is not
/// deleted once more.
std::string annotations_of(const Operation& operation) {
    std::string out = "{";
    add_member("readOnlyHint", operation.read_only(), out);
    add_member("destructiveHint", operation.destructive, out);
    add_member(
        "idempotentHint",
        operation.idempotent || operation.read_only() || operation.method() == "DELETE",
        out
    );
    add_member("openWorldHint", operation.open_world, out);
    return out + '}';
}

Tool make_tool(const Kernel& kernel, const Declared& declared) {
    const Operation& operation = *declared.operation;
    Tool tool{
        .declared = &declared,
        .input = input_of(kernel, operation),
        .head = "{\"name\":",
        .annotations = ",\"annotations\":" + annotations_of(operation) + '}',
        .since_2025_06_18 = ",\"title\":",
        .opaque = opaque_members(operation.handler.output),
    };
    write_text(operation.name, tool.head);
    tool.head += ",\"description\":";
    write_text(description_of(operation), tool.head);
    tool.head += ",\"inputSchema\":" + tool.input.schema;
    write_text(title_of(operation.name), tool.since_2025_06_18);
    tool.since_2025_06_18 += ",\"outputSchema\":" + short_output_of(operation);
    return tool;
}

std::string manifest_entry_of(const Tool& tool) {
    const Operation& operation = *tool.declared->operation;
    std::string out = "{\"name\":";
    write_text(operation.name, out);
    out += ",\"title\":";
    write_text(title_of(operation.name), out);
    out += ",\"toolset\":";
    write_text(tool.declared->tag, out);
    out += ",\"description\":";
    write_text(description_of(operation), out);
    out += ",\"input_schema\":" + tool.input.schema;
    out += ",\"output_schema\":" + output_of(operation);
    return out + ",\"annotations\":" + annotations_of(operation) + '}';
}

std::string instructions_for(const Kernel& kernel) {
    std::string text =
        "Workboard is a kanban board that programs and people work on together: workspaces hold "
        "boards, boards hold columns and cards. Everything you do is recorded under your own "
        "name. Boards go by id, key or name, columns and people by id or name, cards by id or key "
        "such as ENG-42. In lists and after changes a card is a summary; `fields` says which "
        "members "
        "you want instead, and get_card has all. Lists come in pages: pass `next_cursor` as "
        "`start_cursor` while `has_more` is "
        "true. Null fields are omitted from results.";
    if (kernel.find_operation("claim_next_card"))
        text +=
            " A column can be a work queue: list_queues says which have work, claim_next_card "
            "leases its next card to you and gives a lease_token; read get_card_context for what "
            "is to be done, do the work, then call complete_lease or fail_lease with the token. A "
            "lease that runs out goes back to the queue, so renew it while you work.";
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
    return !picky || contains(tools, declared.operation->name) ||
           std::ranges::any_of(toolsets, [&](std::string_view each) {
               return in_toolset(declared, each);
           });
}

const std::vector<Tool>& Catalog::tools() const {
    std::call_once(made_, [this] {
        std::vector<Tool> made;
        for (const Declared& each : kernel_.operations())
            if (each.operation->tool) made.push_back(make_tool(kernel_, each));
        tools_ = std::move(made);
    });
    return tools_;
}

std::string Catalog::instructions() const { return instructions_for(kernel_); }

bool Catalog::shows(const Tool& tool, const Caller& caller, const Narrowing& narrowing) {
    const Operation& operation = *tool.declared->operation;
    return admits(operation.access, caller) && (!operation.for_people || caller.is_person()) &&
           admits(caller.scope, *tool.declared) && narrowing.admits(*tool.declared);
}

std::set<std::string_view> Catalog::toolsets() const {
    std::set<std::string_view> names{"all", "worker"};
    for (const Tool& each : tools()) names.insert(each.declared->tag);
    return names;
}

namespace {

void require_known(
    std::string_view kind,
    const std::vector<std::string_view>& names,
    const std::set<std::string_view>& known
) {
    for (const std::string_view each : names) {
        if (known.contains(each)) continue;
        std::string list;
        for (const std::string_view name : known) (list += list.empty() ? "" : ", ") += name;
        throw RpcError(
            Code::invalid_request,
            "There is no " + std::string(kind) + " `" + std::string(each) +
                "`. There are: " + list + ".",
            400
        );
    }
}

}  // namespace

Narrowing Catalog::narrowing(const http::Request& request) const {
    Narrowing narrowing = Narrowing::of(request);
    if (!narrowing.toolsets.empty()) require_known("toolset", narrowing.toolsets, toolsets());
    if (narrowing.tools.empty()) return narrowing;
    std::set<std::string_view> names;
    for (const Tool& each : tools()) names.insert(each.name());
    require_known("tool", narrowing.tools, names);
    return narrowing;
}

const Tool* Catalog::find(std::string_view name, const Narrowing& narrowing) const {
    const auto found = std::ranges::find(tools(), name, &Tool::name);
    return found != tools().end() && narrowing.admits(*found->declared) ? &*found : nullptr;
}

std::shared_ptr<const http::SharedText> Catalog::list(
    const Caller& caller, const Narrowing& narrowing, ToolTexts texts
) const {
    Shown shown{{}, texts};
    for (const Tool& each : tools()) shown.first.push_back(shows(each, caller, narrowing));
    const std::lock_guard lock(mutex_);
    if (const auto known = lists_.find(shown); known != lists_.end()) return known->second;
    if (lists_.size() >= most_lists) lists_.clear();
    auto list = std::make_shared<const http::SharedText>(written(shown.first, texts));
    return lists_.emplace(std::move(shown), std::move(list)).first->second;
}

std::string Catalog::written(const std::vector<bool>& shown, ToolTexts texts) const {
    std::string out = "\"tools\":[";
    for (std::size_t i = 0; const Tool& each : tools()) {
        if (!shown[i++]) continue;
        if (out.back() != '[') out += ',';
        out += each.head;
        if (texts == ToolTexts::with_output) out += each.since_2025_06_18;
        out += each.annotations;
    }
    out += ']';
    out.shrink_to_fit();
    return out;
}

std::string Catalog::manifest(const std::string& base_url) const {
    const auto transport = [&](std::string_view type, std::string_view path, std::string_view status
                           ) {
        std::string out = "{\"type\":";
        write_text(type, out);
        write_text(path, out += ",\"path\":");
        write_text(base_url + std::string(path), out += ",\"url\":");
        write_text(status, out += ",\"status\":");
        return out + '}';
    };
    std::string out = R"({"object":"mcp_manifest","server":{"name":"workboard","instructions":)";
    write_text(instructions(), out);
    out += "},\"transports\":[" + transport("streamable-http", "/v1/mcp/http", "recommended") +
           ',' + transport("sse", "/v1/mcp/sse", "deprecated") + "],\"tools\":[";
    for (const Tool& each : tools()) {
        if (&each != tools().data()) out += ',';
        out += manifest_entry_of(each);
    }
    return out + "]}";
}

}  // namespace svc::mcp
