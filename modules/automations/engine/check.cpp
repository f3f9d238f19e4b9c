#include "modules/automations/engine/check.hpp"

#include "modules/automations/engine/refusals.hpp"
#include "modules/automations/engine/shape.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace svc::automations {

namespace {

/// A case of a test file. Every member but `name` and `event` may be left out.
struct Case {
    std::string name;
    std::string when = "after";
    std::string kind;
    std::string event;
    json::object answers;  ///< by operation: {status, body}
    json::array calls;     ///< [{operation, arguments}], in order
    json::value refusal;   ///< {code, message} or null
    std::string error;     ///< part of it; empty: none
};

std::string text(const json::value& value) { return std::string(value.as_string()); }

Case read_case(const json::value& value) {
    Case out;
    for (const auto& [key, member] : value.as_object()) {
        if (key == "name") out.name = text(member);
        else if (key == "when") out.when = text(member);
        else if (key == "event") out.event = json::serialize(member);
        else if (key == "answers") out.answers = member.as_object();
        else if (key == "calls") out.calls = member.as_array();
        else if (key == "refusal") out.refusal = member;
        else if (key == "error") out.error = text(member);
        else throw std::runtime_error("has an unknown member " + std::string(key));
    }
    if (out.name.empty() || out.event.empty())
        throw std::runtime_error("has a case without name or event");
    out.kind = text(value.as_object().at("event").as_object().at("kind"));
    return out;
}

std::vector<Case> read_cases(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("is missing");
    const std::string source(std::istreambuf_iterator<char>(stream), {});
    const json::value list = json::parse(source);
    std::vector<Case> cases;
    for (const json::value& each : list.as_array()) cases.push_back(read_case(each));
    if (cases.empty()) throw std::runtime_error("has no case");
    return cases;
}

json::value as_json(const Verdict& refusal) {
    if (!refusal) return nullptr;
    const Refusal shown = proper(*refusal);
    return {{"code", shown.code}, {"message", shown.message}};
}

/// What a script can call by this name; null when that is nothing.
const Operation* find_operation(const Kernel& kernel, std::string_view name) {
    const Declared* declared = kernel.find_operation(name);
    return declared && declared->operation->tool ? declared->operation : nullptr;
}

/// What the case says, and for the rest what the operation declares.
Reply answer_from(const Kernel& kernel, const Case& test, const ScriptCall& call) {
    const Operation* operation = find_operation(kernel, call.operation);
    const json::value* said = test.answers.if_contains(call.operation);
    const json::object answer = said ? said->as_object() : json::object{};
    Reply reply{operation ? operation->status : 200, {}};
    if (const json::value* status = answer.if_contains("status"))
        reply.status = static_cast<int>(status->as_int64());
    if (const json::value* body = answer.if_contains("body")) reply.body = json::serialize(*body);
    else if (reply.status < 400 && reply.status != 204) reply.body = "{}";
    return reply;
}

/// What the case says that no event of its kind has; empty when it could be one.
std::string fault_of_event(const Kernel& kernel, const Case& test) {
    const EventKind* kind = kernel.find_event_kind(test.kind);
    if (!kind) return "unknown event kind " + test.kind + " (is its module enabled?)";
    json::object event = json::parse(test.event).as_object();
    const auto held = [&](const char* member, const std::string& schema) {
        const json::value* value = event.if_contains(member);
        const std::string problem = value ? misfit(*value, json::parse(schema), member) : "";
        event.erase(member);
        return problem.empty() ? "" : "an event " + test.kind + " is not like this: " + problem;
    };
    std::string problem = held("data", kernel.event_schema(*kind));
    if (problem.empty()) problem = held("subject", kernel.record_schema(kind->subject_record()));
    if (!problem.empty()) return problem;
    problem = misfit(event, json::parse(kernel.record_schema(record_of<EventEnvelope>())), "");
    return problem.empty() ? "" : "an event is not like this: " + problem;
}

std::string fault_of_answers(const Kernel& kernel, const Case& test) {
    for (const auto& [name, answer] : test.answers) {
        const Operation* operation = find_operation(kernel, name);
        if (!operation) return "answers: unknown operation " + std::string(name);
        const json::object& parts = answer.as_object();
        const json::value* status = parts.if_contains("status");
        const json::value* body = parts.if_contains("body");
        const Codec* codec = operation->handler.output.codec;
        if (!body || (status && status->as_int64() >= 300) || !codec || !codec->record) continue;
        const std::string problem = misfit(
            *body, json::parse(kernel.record_schema(codec->record())), std::string(name) + ".body"
        );
        if (!problem.empty()) return "answers: " + problem;
    }
    return {};
}

/// What the server would say to a call before it is carried out.
std::string fault_of_call(const Kernel& kernel, const ScriptCall& call) {
    const Operation* operation = find_operation(kernel, call.operation);
    if (!operation) return "calls " + call.operation + ", which is no operation";
    const auto failure = kernel.check_arguments(*operation, call.arguments);
    if (!failure) return {};
    return "calls " + call.operation +
           " with what it does not take: " + reason_in(json::parse(failure->body("")).as_object());
}

/// What is wrong; empty when all is as written.
std::string run_case(
    const Case& test, const Script& script, const Sandbox& sandbox, const Kernel& kernel
) {
    if (!script.binds_to(test.when, test.kind))
        return "the script has no " + test.when + "-handler for " + test.kind;
    if (std::string fault = fault_of_event(kernel, test); !fault.empty()) return fault;
    if (std::string fault = fault_of_answers(kernel, test); !fault.empty()) return fault;
    json::array calls;
    std::string fault;
    const Ended ended = sandbox.run(
        {.mode = test.when == "before" ? Mode::before : Mode::after,
         .name = script.name,
         .source = script.source,
         .event = test.event},
        [&](const ScriptCall& call) {
            calls.push_back(
                {{"operation", call.operation}, {"arguments", json::parse(call.arguments)}}
            );
            if (fault.empty()) fault = fault_of_call(kernel, call);
            return answer_from(kernel, test, call);
        }
    );
    if (!fault.empty()) return fault;
    if (test.error.empty() && !ended.error.empty()) return ended.error;
    if (ended.error.find(test.error) == std::string::npos)
        return "expected the error \"" + test.error + "\", got \"" + ended.error + "\"";
    if (calls != test.calls)
        return "expected the calls " + json::serialize(test.calls) + ", got " +
               json::serialize(calls);
    if (as_json(ended.refusal) != test.refusal)
        return "expected the refusal " + json::serialize(test.refusal) + ", got " +
               json::serialize(as_json(ended.refusal));
    return {};
}

}  // namespace

Declarations declarations_of(const Kernel& kernel) {
    return {
        .has_kind =
            [&kernel](std::string_view filter) {
                return std::ranges::any_of(kernel.event_kinds(), [&](const EventKind* kind) {
                    return kind->record && kind_matches(filter, kind->name);
                });
            },
        .has_refusable_kind =
            [&kernel](std::string_view filter) {
                return std::ranges::any_of(kernel.event_kinds(), [&](const EventKind* kind) {
                    return kind->record && kind->vetoable && kind_matches(filter, kind->name);
                });
            },
        .has_operation = [&kernel](std::string_view name
                         ) { return find_operation(kernel, name) != nullptr; },
    };
}

CheckReport check_script(
    const std::filesystem::path& file, const Sandbox& sandbox, const Kernel& kernel
) {
    CheckReport report;
    const std::string name = file.filename();
    auto test = file;
    test.replace_extension(".test.json");
    try {
        const Script script = load_script(file, sandbox);
        require_declared(script, declarations_of(kernel));
        for (const Case& each : read_cases(test)) {
            ++report.cases;
            if (std::string what = run_case(each, script, sandbox, kernel); !what.empty())
                report.faults.push_back({name, each.name, std::move(what)});
        }
    } catch (const std::exception& error) {
        report.faults.push_back({name, test.filename(), error.what()});
    }
    return report;
}

}  // namespace svc::automations
