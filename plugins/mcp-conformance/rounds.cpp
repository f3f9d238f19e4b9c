#include "plugins/mcp-conformance/fixtures.hpp"

#include "svc/encoding.hpp"

/// Tools that ask by their result, whereupon the client calls again with the answers (2026-07-28).
/// What they have to remember travels with the client, sealed.
namespace svc::mcp_conformance {

namespace {

constexpr int invalid_params = -32602, missing_capability = -32021;

/// The answer to one of the questions; null when there is none that is an object.
const json::object* answer(const FixtureCall& call, std::string_view key) {
    const auto* all = call.param("inputResponses");
    const auto* given = all ? all->if_object() : nullptr;
    const auto* one = given ? given->if_contains(key) : nullptr;
    return one ? one->if_object() : nullptr;
}

std::string field_in(const json::object& answer, std::string_view field) {
    return std::string(text_in(object_in(answer, "content"), field));
}

json::object elicitation(std::string_view message, std::string_view field, std::string_view type) {
    return {{"method", "elicitation/create"}, {"params", form_of(message, field, type)}};
}
json::object sample(std::string_view prompt) {
    return {{"method", "sampling/createMessage"}, {"params", sampling(prompt)}};
}
json::object roots() { return {{"method", "roots/list"}, {"params", json::object()}}; }

Reply ask(json::object questions) {
    Reply reply;
    reply.result["resultType"] = "input_required";
    reply.result["inputRequests"] = std::move(questions);
    return reply;
}

std::string sealed(const FixtureCall& call, const std::string& state) {
    return state + '.' + hex(call.kernel.sign("mcp.conformance.state", state));
}

/// What was sealed; nothing when the client has made it up.
std::optional<std::string> opened(const FixtureCall& call) {
    const auto* given = call.param("requestState");
    if (!given || !given->is_string()) return std::nullopt;
    const std::string_view whole = given->get_string();
    const std::string state(whole.substr(0, whole.rfind('.')));
    return sealed(call, state) == whole ? std::optional(state) : std::nullopt;
}

Reply ask(const FixtureCall& call, json::object questions, const std::string& state) {
    Reply reply = ask(std::move(questions));
    reply.result["requestState"] = sealed(call, state);
    return reply;
}

bool is_forged(const FixtureCall& call) { return call.param("requestState") && !opened(call); }
Reply forged() {
    Reply reply;
    reply.problem = Problem{invalid_params, "The requestState is not this server's."};
    return reply;
}

Reply by_elicitation(const FixtureCall& call) {
    const auto* name = answer(call, "user_name");
    if (!name) return ask({{"user_name", elicitation("What is your name?", "name", "string")}});
    return {content({text("Hello, " + field_in(*name, "name") + "!")})};
}

Reply by_sampling(const FixtureCall& call) {
    const auto* said = answer(call, "capital_question");
    if (!said) return ask({{"capital_question", sample("What is the capital of France?")}});
    return {content({text("The model: " + field_in(*said, "text"))})};
}

Reply by_roots(const FixtureCall& call) {
    const auto* given = answer(call, "client_roots");
    const auto* all = given ? given->if_contains("roots") : nullptr;
    if (!all || !all->is_array()) return ask({{"client_roots", roots()}});
    return {content({text(std::to_string(all->get_array().size()) + " roots")})};
}

Reply with_state(const FixtureCall& call) {
    if (is_forged(call)) return forged();
    if (opened(call) == "confirm" && answer(call, "confirm"))
        return {content({text("state-ok: the state is as it was")})};
    return ask(call, {{"confirm", elicitation("Is it so?", "ok", "boolean")}}, "confirm");
}

Reply several(const FixtureCall& call) {
    if (is_forged(call)) return forged();
    if (opened(call) == "several" && answer(call, "user_name") && answer(call, "greeting") &&
        answer(call, "client_roots"))
        return {content({text("Everything is answered.")})};
    return ask(
        call,
        {{"user_name", elicitation("What is your name?", "name", "string")},
         {"greeting", sample("Greet somebody.")},
         {"client_roots", roots()}},
        "several"
    );
}

Reply several_rounds(const FixtureCall& call) {
    constexpr std::string_view named = "named:";
    if (is_forged(call)) return forged();
    const std::string state = opened(call).value_or("");
    if (const auto* color = answer(call, "step2"); color && state.starts_with(named))
        return {content({text(state.substr(named.size()) + " likes " + field_in(*color, "color"))})
        };
    if (const auto* name = answer(call, "step1"); name && state == "begun")
        return ask(
            call,
            {{"step2", elicitation("Which color do you like?", "color", "string")}},
            std::string(named) + field_in(*name, "name")
        );
    return ask(call, {{"step1", elicitation("What is your name?", "name", "string")}}, "begun");
}

/// Asks only what the client says it can answer.
Reply by_capabilities(const FixtureCall& call) {
    json::object questions;
    if (call.client_has("elicitation"))
        questions["elicit_input"] = elicitation("Which?", "value", "string");
    if (call.client_has("sampling")) questions["sample_input"] = sample("Which?");
    for (const auto& question : questions)
        if (answer(call, question.key())) return {content({text("It is answered.")})};
    if (questions.empty()) return {content({text("There is nobody to ask.")})};
    return ask(std::move(questions));
}

Reply needs_sampling(const FixtureCall& call) {
    if (call.client_has("sampling")) return {content({text("It can be asked.")})};
    Reply reply;
    reply.problem = Problem{
        missing_capability,
        "This tool needs a client that samples.",
        {{"requiredCapabilities", {{"sampling", json::object()}}}},
        400
    };
    return reply;
}

Reply on_a_stream(const FixtureCall& call) {
    Reply reply = by_elicitation(call);
    reply.streamed = true;
    return reply;
}

}  // namespace

const std::vector<Fixture>& rounds() {
    static const std::vector<Fixture> all{
        {"test_input_required_result_elicitation", "Asks the user.", {}, by_elicitation},
        {"test_input_required_result_sampling", "Asks the model.", {}, by_sampling},
        {"test_input_required_result_list_roots", "Asks for roots.", {}, by_roots},
        {"test_input_required_result_request_state", "Remembers.", {}, with_state},
        {"test_input_required_result_multiple_inputs", "Asks for several things.", {}, several},
        {"test_input_required_result_multi_round", "Asks twice.", {}, several_rounds},
        {"test_input_required_result_tampered_state", "Trusts only itself.", {}, with_state},
        {"test_input_required_result_capabilities", "Asks who can answer.", {}, by_capabilities},
        {"test_missing_capability", "Needs sampling.", {}, needs_sampling},
        {"test_streaming_elicitation", "Asks the user, on a stream.", {}, on_a_stream},
    };
    return all;
}

}  // namespace svc::mcp_conformance
