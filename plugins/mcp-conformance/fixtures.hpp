#pragma once

#include "modules/mcp/api.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

/// What the protocol's conformance suites expect a server to have, by the names and the behaviour
/// that they prescribe.
namespace svc::mcp_conformance {

/// What a server asks of its client in the middle of a call; the answer makes the result.
struct Question {
    std::string method;
    json::object params;
    std::function<json::object(const json::object& answer)> then;
};

struct Problem {
    int code;
    std::string message;
    json::object data{};
    int status = 200;
};

struct Reply {
    json::object result{};
    std::vector<json::object> notices{};  ///< `method` and `params`, sent ahead on a stream
    bool streamed = false;                ///< on a stream, even without notices
    std::optional<Question> question{};   ///< in place of the result
    std::optional<Problem> problem{};     ///< in place of both
};

/// A call of a tool or a prompt.
struct FixtureCall {
    const mcp::Incoming& in;
    const Kernel& kernel;

    const json::value* param(std::string_view name) const;
    const json::value* meta(std::string_view name) const;
    std::string argument(std::string_view name) const;
    bool client_has(std::string_view capability) const;
};

struct Fixture {
    std::string_view name, description;
    std::vector<std::string_view> arguments;  ///< each a text
    Reply (*run)(const FixtureCall& call);
};

const std::vector<Fixture>& contents();   ///< tools that give every kind of content
const std::vector<Fixture>& questions();  ///< tools that ask on their stream: until 2025-11-25
const std::vector<Fixture>& rounds();     ///< tools that ask by their result: 2026-07-28
const std::vector<Fixture>& prompts();

/// Members of lists, separated by commas.
std::string listed_resources();
std::string listed_templates();
/// Nothing when it is no resource of these.
std::optional<Reply> read_resource(const mcp::Incoming& in);

json::object text(std::string_view text);
json::object image();
/// The result of a tool that is this content.
json::object content(json::array items);
json::object resource(std::string_view uri, std::string_view type, std::string_view text);
/// The parameters of a question that a form answers.
json::object form(std::string_view message, json::object properties, json::array required);
/// The same of one required field.
json::object form_of(std::string_view message, std::string_view field, std::string_view type);
json::object sampling(std::string_view prompt);
std::string_view text_in(const json::object& in, std::string_view member);
/// The object at this member; an empty one when there is none.
const json::object& object_in(const json::object& in, std::string_view member);

}  // namespace svc::mcp_conformance
