// With which codes and reasons each operation refuses: what tests have met.

#include "decl/openapi.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>

namespace svc::decl {

namespace {

constexpr std::string_view prefix = "#/components/responses/";

/// The operation's own response, where it has referred to one that it shares with others.
json::object& own(json::value& response, const json::object& shared) {
    if (const auto* ref = response.as_object().if_contains("$ref")) {
        const std::string_view name = std::string_view(ref->as_string()).substr(prefix.size());
        response = json::value(shared.at(name));
    }
    return response.as_object();
}

void name_in(json::object& response, const std::vector<std::string>& names) {
    json::object examples;
    std::string list;
    for (const std::string& name : names) {
        list += list.empty() ? "" : ", ";
        list += "[`" + name + "`](/docs/errors#" + name + ')';
        examples[name] = json::object{{"$ref", "#/components/examples/" + name}};
    }
    response.at("description").as_string().append("\n\nHere: " + list + '.');
    response.at("content").at("application/json").as_object()["examples"] = std::move(examples);
}

}  // namespace

void add_refusals(json::value& paths, json::object& components, const std::string& recorded) {
    if (recorded.empty()) return;
    const json::value known = json::parse(recorded);
    const json::object& shared = components.at("responses").as_object();
    json::object examples;
    for (auto& [path, methods] : paths.as_object())
        for (auto& [method, operation] : methods.as_object()) {
            const auto& id = operation.at("operationId").as_string();
            const auto* names = known.at("operations").as_object().if_contains(id);
            if (!names) continue;
            std::map<std::string, std::vector<std::string>> by_status;
            for (const auto& each : names->as_array()) {
                std::string name(each.as_string());
                const json::value& body = known.at("refusals").at(name);
                examples[name] = json::object{{"value", body}};
                by_status[std::to_string(body.at("status").as_int64())].push_back(std::move(name));
            }
            json::object& responses = operation.at("responses").as_object();
            for (const auto& [status, list] : by_status)
                if (auto* response = responses.if_contains(status))
                    name_in(own(*response, shared), list);
        }
    components["examples"] = std::move(examples);
}

}  // namespace svc::decl
