#include "plugins/store-local/lib/policy.hpp"

#include "svc/failure.hpp"
#include "svc/json.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace svc::store_local {

namespace {

[[noreturn]] void malformed() {
    throw Failure(Fault::invalid, "The form's policy is none that this server writes.");
}

[[noreturn]] void refuse(const std::string& why) {
    throw Failure(Fault::restricted, "The form's policy does not allow this: " + why);
}

std::string lowered(std::string_view text) {
    std::string out(text);
    for (char& each : out)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return out;
}

std::string text_of(const json::value& value) {
    if (!value.is_string()) malformed();
    return std::string(value.as_string());
}

/// Not a matter of the policy: what it is signed by, and the file itself.
bool is_exempt(std::string_view field) {
    return field == "policy" || field == "signature" || field == "file" ||
           field.starts_with("x-ignore-");
}

}  // namespace

Policy Policy::parse(std::string_view text) {
    const json::value document = parse_json(text, "policy");
    const auto* object = document.if_object();
    const auto* conditions = object ? object->if_contains("conditions") : nullptr;
    const auto* expiration = object ? object->if_contains("expiration") : nullptr;
    if (!conditions || !conditions->is_array() || !expiration) malformed();
    Policy policy;
    const auto until = Timestamp::parse(text_of(*expiration));
    if (!until) malformed();
    policy.expiration_ = *until;
    for (const auto& each : conditions->as_array()) {
        if (const auto* equal = each.if_object()) {
            for (const auto& [field, value] : *equal)
                policy.conditions_.push_back({lowered(field), text_of(value)});
            continue;
        }
        const auto* rule = each.if_array();
        if (!rule || rule->size() != 3) malformed();
        const auto kind = text_of((*rule)[0]);
        if (kind == "content-length-range") {
            const auto *least = (*rule)[1].if_int64(), *most = (*rule)[2].if_int64();
            if (!least || !most) malformed();
            policy.least_ = *least;
            policy.most_ = *most;
            continue;
        }
        const auto field = text_of((*rule)[1]);
        if ((kind != "eq" && kind != "starts-with") || !field.starts_with('$')) malformed();
        policy.conditions_.push_back(
            {lowered(field.substr(1)), text_of((*rule)[2]), kind == "starts-with"}
        );
    }
    return policy;
}

void Policy::check(const Fields& fields, const Timestamp& now) const {
    if (now >= expiration_) refuse("it was good until " + expiration_.str() + ".");
    for (const Condition& each : conditions_) {
        const auto found = fields.find(each.field);
        const bool met =
            found != fields.end() &&
            (each.prefix ? found->second.starts_with(each.value) : found->second == each.value);
        if (!met) refuse("the field " + each.field + " is not what it has to be.");
    }
    for (const auto& [field, value] : fields) {
        const bool named = std::ranges::any_of(conditions_, [&, &name = field](const auto& each) {
            return each.field == name;
        });
        if (!named && !is_exempt(field)) refuse("it says nothing of a field " + field + ".");
    }
}

std::string policy_text(
    std::string_view key,
    std::string_view content_type,
    std::int64_t most_bytes,
    const Timestamp& until
) {
    return json::serialize(json::object{
        {"expiration", until.str()},
        {"conditions",
         json::array{
             json::object{{"key", std::string(key)}},
             json::object{{"Content-Type", std::string(content_type)}},
             json::array{"content-length-range", 1, most_bytes},
         }},
    });
}

}  // namespace svc::store_local
