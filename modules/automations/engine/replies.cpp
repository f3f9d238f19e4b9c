#include "modules/automations/engine/replies.hpp"

#include "modules/automations/engine/refusals.hpp"

#include <boost/json.hpp>

namespace svc::automations {

namespace json = boost::json;

Reply fitting(Reply reply, bool read_only) {
    if (reply.body.size() <= longest_reply) return reply;
    if (read_only && reply.status < 400)
        return {
            413,
            R"({"code":"request_too_large","message":"The answer is too large for a script; )"
            R"(ask for less."})"};
    const auto whole = parsed(reply.body);
    json::object left;
    for (const char* name : {"object", "id", "code", "message"})
        if (const auto text = whole ? text_at(*whole, name) : std::nullopt) left[name] = *text;
    left["truncated"] = true;
    reply.body = json::serialize(left);
    return reply;
}

}  // namespace svc::automations
