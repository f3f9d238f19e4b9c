#include "modules/agents/system_actor.hpp"

#include <boost/json.hpp>

namespace svc::agents {

namespace {

/// Whoever holds the machine may do this in every workspace.
Caller system_in(const Uuid& org, std::string_view why) {
    return {
        .type = PrincipalType::system,
        .id = {},
        .name = std::string(why),
        .user_id = {},
        .org_id = org,
        .role = OrgRole::owner,
        .past_due = false,
        .token_id = {},
        .session_id = {},
        .surface = Surface::system,
        .until = {},
    };
}

/// What is wrong with the first field that is not as it should be, or else the message.
std::string why_refused(const boost::json::value& problem) {
    const auto* detail = problem.as_object().if_contains("detail");
    if (!detail || detail->as_array().empty())
        return std::string(problem.at("message").as_string());
    const auto& first = detail->as_array().front();
    return std::string(first.at("loc").as_array().back().as_string()) + ": " +
           std::string(first.at("msg").as_string());
}

}  // namespace

void run_as_system(
    Kernel& kernel,
    const Uuid& org,
    std::string_view why,
    std::string_view operation,
    const boost::json::object& arguments
) {
    const std::string text = boost::json::serialize(arguments);
    const Invoked done = kernel.invoke(
        system_in(org, why), {.operation = operation, .arguments = text, .surface = Surface::system}
    );
    if (done.status < 300) return;
    throw std::runtime_error(why_refused(boost::json::parse(done.body)));
}

}  // namespace svc::agents
