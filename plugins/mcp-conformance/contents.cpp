#include "plugins/mcp-conformance/fixtures.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace svc::mcp_conformance {

namespace {

constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
// One red pixel, and a sample of silence.
constexpr std::string_view png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg==";
constexpr std::string_view wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
constexpr std::string_view template_begin = "test://template/", template_end = "/data";

json::object notice(std::string_view method, json::object params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json::object log_notice(std::string_view said) {
    return notice("notifications/message", {{"level", "info"}, {"data", said}});
}

Reply simple_text(const FixtureCall&) { return {content({text("A simple text.")})}; }
Reply image_content(const FixtureCall&) { return {content({image()})}; }
Reply audio_content(const FixtureCall&) {
    return {content({json::object{{"type", "audio"}, {"data", wav}, {"mimeType", "audio/wav"}}})};
}
Reply embedded_resource(const FixtureCall&) {
    return {content({resource("test://embedded-resource", "text/plain", "What is embedded.")})};
}
Reply several(const FixtureCall&) {
    return {content(
        {text("Several kinds:"),
         image(),
         resource("test://mixed-content-resource", "application/json", R"({"value":123})")}
    )};
}
Reply failing(const FixtureCall&) {
    Reply reply{content({text("This tool fails on purpose.")})};
    reply.result["isError"] = true;
    return reply;
}

/// Nobody is told of the log who has not asked for it; before 2026-07-28, all have.
Reply logging(const FixtureCall& call) {
    Reply reply{content({text("It is done, and the log has it.")})};
    if (call.in.stateless && !call.meta(log_level)) return reply;
    for (const char* said : {"begun", "under way", "done"})
        reply.notices.push_back(log_notice(said));
    return reply;
}

Reply progress(const FixtureCall& call) {
    Reply reply{content({text("It is done, step by step.")})};
    const auto* token = call.meta("progressToken");
    for (int step = 0; token && step <= 100; step += 50)
        reply.notices.push_back(notice(
            "notifications/progress",
            {{"progressToken", *token}, {"progress", step}, {"total", 100}}
        ));
    return reply;
}

Invoked run(const FixtureCall& call, std::string_view operation, const json::object& arguments) {
    const std::string text = json::serialize(arguments);
    return call.in.call.invoke({.operation = operation, .arguments = text, .may_wait = false});
}

/// Changes an agent, whereupon lists of tools may be others.
Reply change_tools(const FixtureCall& call) {
    const auto agents = json::parse(run(call, "list_agents", {}).body);
    const json::object& first = agents.at("results").at(0).as_object();
    const auto changed =
        run(call, "update_agent", {{"agent_id", first.at("id")}, {"description", new_uuid().str()}}
        );
    Reply reply{content({text(changed.body)})};
    if (changed.status >= 400) reply.result["isError"] = true;
    return reply;
}

Reply prompt_of(std::initializer_list<json::object> contents) {
    json::array messages;
    for (const json::object& each : contents)
        messages.push_back(json::object{{"role", "user"}, {"content", each}});
    Reply reply;
    reply.result["messages"] = std::move(messages);
    return reply;
}

Reply simple_prompt(const FixtureCall&) { return prompt_of({text("A simple prompt.")}); }
Reply prompt_with_arguments(const FixtureCall& call) {
    return prompt_of(
        {text("arg1='" + call.argument("arg1") + "', arg2='" + call.argument("arg2") + "'")}
    );
}
Reply prompt_with_resource(const FixtureCall& call) {
    return prompt_of(
        {resource(call.argument("resourceUri"), "text/plain", "What is embedded."),
         text("Read the resource above.")}
    );
}
Reply prompt_with_image(const FixtureCall&) {
    return prompt_of({image(), text("Look at the image above.")});
}

/// A prompt that has to know something first.
Reply prompt_that_asks(const FixtureCall& call) {
    const auto* all = call.param("inputResponses");
    const auto* given = all ? all->if_object() : nullptr;
    if (!given || !given->contains("user_context")) {
        const json::object question{
            {"method", "elicitation/create"},
            {"params", form_of("What is it about?", "context", "string")}
        };
        Reply reply;
        reply.result["resultType"] = "input_required";
        reply.result["inputRequests"] = json::object{{"user_context", question}};
        return reply;
    }
    const auto& answer = object_in(object_in(*given, "user_context"), "content");
    return prompt_of({text("It is about " + std::string(text_in(answer, "context")))});
}

}  // namespace

json::object text(std::string_view text) { return {{"type", "text"}, {"text", text}}; }
json::object image() { return {{"type", "image"}, {"data", png}, {"mimeType", "image/png"}}; }
json::object content(json::array items) { return {{"content", std::move(items)}}; }
json::object resource(std::string_view uri, std::string_view type, std::string_view text) {
    return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", type}, {"text", text}}}};
}

const std::vector<Fixture>& contents() {
    static const std::vector<Fixture> all{
        {"test_simple_text", "Gives a text.", {}, simple_text},
        {"test_image_content", "Gives an image.", {}, image_content},
        {"test_audio_content", "Gives a sound.", {}, audio_content},
        {"test_embedded_resource", "Gives a resource.", {}, embedded_resource},
        {"test_multiple_content_types", "Gives a text, an image and a resource.", {}, several},
        {"test_error_handling", "Fails.", {}, failing},
        {"test_tool_with_logging", "Tells of its log.", {}, logging},
        {"test_logging_tool", "Tells of its log, when asked to.", {}, logging},
        {"test_tool_with_progress", "Tells how far it is.", {}, progress},
        {"test_trigger_tool_change", "Changes what tools may be listed.", {}, change_tools},
    };
    return all;
}

const std::vector<Fixture>& prompts() {
    static const std::vector<Fixture> all{
        {"test_simple_prompt", "A prompt.", {}, simple_prompt},
        {"test_prompt_with_arguments", "One of arguments.", {"arg1", "arg2"}, prompt_with_arguments
        },
        {"test_prompt_with_embedded_resource",
         "One with a resource.",
         {"resourceUri"},
         prompt_with_resource},
        {"test_prompt_with_image", "One with an image.", {}, prompt_with_image},
        {"test_input_required_result_prompt", "One that asks first.", {}, prompt_that_asks},
    };
    return all;
}

std::string listed_resources() {
    std::string all;
    for (const auto& [uri, type] :
         {std::pair{"test://static-text", "text/plain"},
          std::pair{"test://static-binary", "image/png"},
          std::pair{"test://watched-resource", "text/plain"}}) {
        const std::string name = std::string(uri).substr(7);
        all += all.empty() ? "" : ",";
        all += json::serialize(json::object{{"uri", uri}, {"name", name}, {"mimeType", type}});
    }
    return all;
}

std::string listed_templates() {
    return R"({"uriTemplate":"test://template/{id}/data","name":"template",)"
           R"("description":"Says its id.","mimeType":"application/json"})";
}

std::optional<Reply> read_resource(const mcp::Incoming& in) {
    const std::string_view uri = in.params ? text_in(*in.params, "uri") : std::string_view();
    json::object read{{"uri", uri}};
    if (uri == "test://static-text" || uri == "test://watched-resource") {
        read["mimeType"] = "text/plain";
        read["text"] = "A static text.";
    } else if (uri == "test://static-binary") {
        read["mimeType"] = "image/png";
        read["blob"] = png;
    } else if (uri.starts_with(template_begin) && uri.ends_with(template_end) &&
               uri.size() > template_begin.size() + template_end.size()) {
        auto id = uri.substr(template_begin.size());
        id.remove_suffix(template_end.size());
        read["mimeType"] = "application/json";
        read["text"] = json::serialize(json::object{{"id", id}});
    } else {
        return std::nullopt;
    }
    Reply reply;
    reply.result["contents"] = json::array{std::move(read)};
    if (in.stateless) {
        reply.result["ttlMs"] = 60'000;
        reply.result["cacheScope"] = "private";
    }
    return reply;
}

}  // namespace svc::mcp_conformance
