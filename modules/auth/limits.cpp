#include "modules/auth/limits.hpp"

#include "modules/auth/settings.hpp"

namespace svc::auth {

namespace {

const Settings& settings(Call& call) { return call.use<Settings>(); }

std::chrono::minutes log_in_window(Call& call) {
    return std::chrono::minutes(settings(call).log_in_minutes);
}
std::chrono::minutes sign_up_window(Call& call) {
    return std::chrono::minutes(settings(call).sign_up_minutes);
}

}  // namespace

Limit sign_ups_from_one_place(Call& call) {
    return {"sign_up", settings(call).sign_ups_from_one_place, sign_up_window(call)};
}

Limit mails_from_one_place(Call& call) {
    return {"mail_request", settings(call).mail_requests_from_one_place, sign_up_window(call)};
}

Limit mails_to_one_address(Call& call) {
    return {"sign_up_mail", settings(call).sign_up_mails, sign_up_window(call)};
}

Limit log_ins_of_pair(Call& call) {
    return {"log_in", settings(call).log_ins, log_in_window(call)};
}

Limit log_ins_from_one_place(Call& call) {
    return {"log_in_from_one_place", settings(call).log_ins_from_one_place, log_in_window(call)};
}

Limit departures_from_one_place(Call& call) {
    return {"outside_sign_in", settings(call).log_ins_from_one_place, log_in_window(call)};
}

Limit returns_to_one_place(Call& call) {
    return {"outside_return", settings(call).log_ins_from_one_place, log_in_window(call)};
}

Limit guesses_from_one_place(Call& call, std::string_view what) {
    return {what, settings(call).log_ins, log_in_window(call)};
}

Limit guesses_from_anywhere(Call& call, std::string_view what) {
    return {what, settings(call).log_ins_from_one_place, log_in_window(call)};
}

Limit password_checks(Call& call) {
    return {"password_check", settings(call).log_ins, log_in_window(call)};
}

}  // namespace svc::auth
