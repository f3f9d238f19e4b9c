#include "core/access.hpp"

#include <algorithm>

namespace svc::core {

namespace {

/// In the workspace; nothing when `access` does not ask for one.
std::optional<OrgRole> least_role(Access access) {
    switch (access) {
        case Access::anyone:
        case Access::me:
        case Access::person: break;
        case Access::member:
        case Access::board_viewer:
        case Access::board_editor:
        case Access::board_admin: return OrgRole::viewer;
        case Access::admin: return OrgRole::admin;
        case Access::owner: return OrgRole::owner;
    }
    return std::nullopt;
}

void require_person(const Caller& caller) {
    if (caller.is_person()) return;
    throw Failure(
        Fault::restricted,
        "Only a person may do this: sign in, or use an integration token instead of an agent's."
    );
}

void require_role(const Caller& caller, OrgRole least) {
    if (!caller.org_id) not_found("workspace");
    if (caller.role >= least) return;
    throw Failure(
        Fault::restricted,
        "This takes the role " + std::string(name_of(least)) + " in the workspace; yours is " +
            std::string(name_of(caller.role)) + "."
    );
}

}  // namespace

void check_access(Access access, const CallerResolver& who) {
    if (access == Access::anyone) return;
    who.require_workspace();
    const Caller& caller = *who.caller();
    if (access == Access::person) require_person(caller);
    if (const auto least = least_role(access)) require_role(caller, *least);
}

void check_scope(const Kernel& kernel, const Operation& operation, const CallerResolver& who) {
    const Caller* caller = who.caller();
    if (!caller || !caller->scope.limits() || operation.access == Access::anyone) return;
    if (admits(caller->scope, *kernel.find_operation(operation.name))) return;
    const std::string name(operation.name);
    throw outside_token_scope(
        caller->scope.read_only && !operation.read_only()
            ? "This token only reads; " + name + " changes something."
            : "This token is limited to some toolsets, and " + name + " is in none of them."
    );
}

Failure outside_token_scope(const std::string& message) {
    return Failure(Fault::restricted, message).with("reason", "outside_token_scope");
}

bool is_past_due(const Operation& operation, const CallerResolver& who) {
    const Caller* caller = who.caller();
    return caller && caller->past_due && !operation.read_only() && !operation.when_past_due &&
           operation.access > Access::person;
}

}  // namespace svc::core

namespace svc {

bool admits(Access access, const Caller& caller) {
    if (access == Access::person) return caller.is_person();
    const auto least = core::least_role(access);
    return !least || (caller.org_id && caller.role >= *least);
}

bool in_toolset(const Declared& declared, std::string_view toolset) {
    return toolset == declared.tag || (toolset == "worker" && declared.operation->worker);
}

bool admits(const ToolScope& scope, const Declared& declared) {
    if (scope.read_only && !declared.operation->read_only()) return false;
    if (!scope.names_some()) return true;
    return std::ranges::find(scope.tools, declared.operation->name) != scope.tools.end() ||
           std::ranges::any_of(scope.toolsets, [&](const std::string& each) {
               return in_toolset(declared, each);
           });
}

}  // namespace svc
