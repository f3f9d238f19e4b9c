#include "modules/automations/engine/subject.hpp"

#include <boost/json.hpp>

namespace svc::automations {

namespace {

/// Sees whatever the events of the workspace speak of: scripts are the operator's, and are given
/// the events of every board.
Caller reader_in(const Uuid& org) {
    Caller caller;
    caller.type = PrincipalType::automation;
    caller.name = "automations";
    caller.org_id = org;
    caller.role = OrgRole::owner;
    caller.surface = Surface::automation;
    return caller;
}

json::object data_of(const StoredEvent& event) {
    json::parse_options options;
    options.max_depth = 512;
    json::value envelope = json::parse(event.envelope, {}, options);
    return std::move(envelope.as_object().at("data").as_object());
}

std::string read(Kernel& kernel, const EventKind& kind, const StoredEvent& event) {
    const Operation& operation = reader_of(kernel, kind);
    const json::object data = data_of(event);
    const json::object arguments{{std::string(kind.object) + "_id", data.at("id")}};
    const Invoked invoked = kernel.invoke(
        reader_in(event.org_id),
        {.operation = operation.name,
         .arguments = json::serialize(arguments),
         .surface = Surface::automation,
         .may_wait = false}
    );
    if (invoked.status < 300) return invoked.body;
    if (invoked.status < 500) return {};
    throw std::runtime_error(
        std::string(operation.name) + " was answered " + std::to_string(invoked.status)
    );
}

}  // namespace

const Operation& reader_of(const Kernel& kernel, const EventKind& kind) {
    const Declared* declared = kernel.find_operation("get_" + std::string(kind.object));
    if (declared && declared->operation->tool) return *declared->operation;
    throw std::logic_error(
        "nothing reads the subject of " + std::string(kind.name) + ": there is no operation get_" +
        std::string(kind.object)
    );
}

std::string subject_of(Kernel& kernel, const StoredEvent& event) {
    if (event.subject) return *event.subject;
    const EventKind* kind = kernel.find_event_kind(event.kind);
    if (!kind) return {};  // of a module that is off now
    if (kind->from == Subject::read) return read(kernel, *kind, event);
    // Nothing was kept: what was made is all in what changed.
    const json::object data = data_of(event);
    const json::value* changes = data.if_contains("changes");
    const json::value* previous = data.if_contains("previous");
    const bool is_new = previous && previous->is_object() && previous->get_object().empty();
    // An event from before subjects were kept may hold less.
    return changes && is_new ? json::serialize(*changes) : std::string();
}

std::string with_subject(std::string envelope, std::string_view subject) {
    if (subject.empty()) return envelope;
    envelope.pop_back();
    ((envelope += R"(,"subject":)") += subject) += '}';
    return envelope;
}

}  // namespace svc::automations
