#include "plugins/mcp-conformance/fixtures.hpp"

#include <boost/json/serialize.hpp>

/// Tools that ask their client on the stream of the call, as versions with sessions have it.
namespace svc::mcp_conformance {

namespace {

json::object field(std::string_view type, std::string_view description, json::object more) {
    more["type"] = type;
    more["description"] = description;
    return more;
}

json::object choice(std::string_view value, std::string_view title) {
    return {{"const", value}, {"title", title}};
}

/// Says what the client answered.
json::object said(const json::object& answer) {
    const auto action = text_in(answer, "action");
    const auto what = json::serialize(object_in(answer, "content"));
    return content({text("The answer: action=" + std::string(action) + ", content=" + what)});
}

Reply ask(json::object params) {
    Reply reply;
    reply.question = Question{"elicitation/create", std::move(params), said};
    return reply;
}

Reply sample(const FixtureCall& call) {
    Reply reply;
    reply.question = Question{
        "sampling/createMessage",
        sampling(call.argument("prompt")),
        [](const json::object& answer) {
            const auto model = text_in(object_in(answer, "content"), "text");
            return content({text("The model: " + std::string(model))});
        }
    };
    return reply;
}

Reply elicit(const FixtureCall& call) {
    return ask(form(
        call.argument("message"),
        {{"username", field("string", "Name", {})}, {"email", field("string", "Address", {})}},
        {"username", "email"}
    ));
}

Reply elicit_defaults(const FixtureCall&) {
    return ask(form(
        "Is this right?",
        {{"name", field("string", "Name", {{"default", "John Doe"}})},
         {"age", field("integer", "Age", {{"default", 30}})},
         {"score", field("number", "Score", {{"default", 95.5}})},
         {"status",
          field(
              "string",
              "Status",
              {{"enum", {"active", "inactive", "pending"}}, {"default", "active"}}
          )},
         {"verified", field("boolean", "Verified", {{"default", true}})}},
        {}
    ));
}

Reply elicit_choices(const FixtureCall&) {
    const json::array plain{"option1", "option2", "option3"};
    const json::array titled{
        choice("value1", "First"), choice("value2", "Second"), choice("value3", "Third")
    };
    return ask(form(
        "Choose.",
        {{"untitledSingle", field("string", "One", {{"enum", plain}})},
         {"titledSingle", field("string", "One, by title", {{"oneOf", titled}})},
         {"legacyEnum",
          field(
              "string",
              "One, in the older way",
              {{"enum", {"opt1", "opt2", "opt3"}}, {"enumNames", {"One", "Two", "Three"}}}
          )},
         {"untitledMulti",
          field(
              "array",
              "Several",
              {{"minItems", 1}, {"maxItems", 3}, {"items", {{"type", "string"}, {"enum", plain}}}}
          )},
         {"titledMulti",
          field(
              "array",
              "Several, by title",
              {{"minItems", 1}, {"maxItems", 3}, {"items", {{"anyOf", titled}}}}
          )}},
        {}
    ));
}

}  // namespace

json::object form(std::string_view message, json::object properties, json::array required) {
    return {
        {"message", message},
        {"requestedSchema",
         {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)}}}
    };
}

json::object form_of(std::string_view message, std::string_view field, std::string_view type) {
    return form(message, {{field, {{"type", type}}}}, {field});
}

json::object sampling(std::string_view prompt) {
    return {
        {"messages", json::array{{{"role", "user"}, {"content", text(prompt)}}}}, {"maxTokens", 100}
    };
}

const std::vector<Fixture>& questions() {
    static const std::vector<Fixture> all{
        {"test_sampling", "Asks the client's model.", {"prompt"}, sample},
        {"test_elicitation", "Asks the client's user.", {"message"}, elicit},
        {"test_elicitation_sep1034_defaults", "Asks with defaults.", {}, elicit_defaults},
        {"test_elicitation_sep1330_enums", "Asks for choices.", {}, elicit_choices},
    };
    return all;
}

}  // namespace svc::mcp_conformance
