#include "modules/automations/engine/check.hpp"

#include <boost/json.hpp>

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

Reply answer_from(const Case& test, const ScriptCall& call) {
    const json::value* answer = test.answers.if_contains(call.operation);
    if (!answer) return {200, "{}"};
    Reply reply;
    if (const json::value* status = answer->as_object().if_contains("status"))
        reply.status = static_cast<int>(status->as_int64());
    if (const json::value* body = answer->as_object().if_contains("body"))
        reply.body = json::serialize(*body);
    return reply;
}

json::value as_json(const Verdict& refusal) {
    if (!refusal) return nullptr;
    return {{"code", refusal->code}, {"message", refusal->message}};
}

/// What is wrong; empty when all is as written.
std::string run_case(const Case& test, const Script& script, const Sandbox& sandbox) {
    if (!script.binds_to(test.when, test.kind))
        return "the script has no " + test.when + "-handler for " + test.kind;
    json::array calls;
    const Ended ended = sandbox.run(
        {.mode = test.when == "before" ? Mode::before : Mode::after,
         .name = script.name,
         .source = script.source,
         .event = test.event},
        [&](const ScriptCall& call) {
            calls.push_back(
                {{"operation", call.operation}, {"arguments", json::parse(call.arguments)}}
            );
            return answer_from(test, call);
        }
    );
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

CheckReport check_script(const std::filesystem::path& file, const Sandbox& sandbox) {
    CheckReport report;
    const std::string name = file.filename();
    auto test = file;
    test.replace_extension(".test.json");
    try {
        const Script script = load_script(file, sandbox);
        for (const Case& each : read_cases(test)) {
            ++report.cases;
            if (std::string what = run_case(each, script, sandbox); !what.empty())
                report.faults.push_back({name, each.name, std::move(what)});
        }
    } catch (const std::exception& error) {
        report.faults.push_back({name, test.filename(), error.what()});
    }
    return report;
}

}  // namespace svc::automations
