#include "modules/auth/limits.hpp"

#include "modules/auth/settings.hpp"

namespace svc::auth {

namespace {

const Settings& settings(Call& call) { return call.use<Settings>(); }

DatabaseRateLimit of_log_ins(Call& call, std::string_view reason, std::int64_t limit) {
    return {call.kernel(), {reason, limit, std::chrono::minutes(settings(call).log_in_minutes)}};
}
DatabaseRateLimit of_sign_ups(Call& call, std::string_view reason, std::int64_t limit) {
    return {call.kernel(), {reason, limit, std::chrono::minutes(settings(call).sign_up_minutes)}};
}

}  // namespace

DatabaseRateLimit sign_ups_from_one_place(Call& call) {
    return of_sign_ups(call, "sign_up", settings(call).sign_ups_from_one_place);
}

DatabaseRateLimit mails_from_one_place(Call& call) {
    return of_sign_ups(call, "mail_request", settings(call).mail_requests_from_one_place);
}

DatabaseRateLimit mails_to_one_address(Call& call) {
    return of_sign_ups(call, "sign_up_mail", settings(call).sign_up_mails);
}

DatabaseRateLimit log_ins_of_pair(Call& call) {
    return of_log_ins(call, "log_in", settings(call).log_ins);
}

DatabaseRateLimit log_ins_from_one_place(Call& call) {
    return of_log_ins(call, "log_in_from_one_place", settings(call).log_ins_from_one_place);
}

DatabaseRateLimit departures_from_one_place(Call& call) {
    return of_log_ins(call, "outside_sign_in", settings(call).log_ins_from_one_place);
}

DatabaseRateLimit returns_to_one_place(Call& call) {
    return of_log_ins(call, "outside_return", settings(call).log_ins_from_one_place);
}

DatabaseRateLimit guesses_from_one_place(Call& call, std::string_view what) {
    return of_log_ins(call, what, settings(call).log_ins);
}

DatabaseRateLimit guesses_from_anywhere(Call& call, std::string_view what) {
    return of_log_ins(call, what, settings(call).log_ins_from_one_place);
}

DatabaseRateLimit password_checks(Call& call) {
    return of_log_ins(call, "password_check", settings(call).log_ins);
}

}  // namespace svc::auth
