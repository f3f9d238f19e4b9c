#include "modules/orgs/mail_limits.hpp"

namespace svc::orgs {

namespace {

constexpr Sql present_key{"orgs.present_address", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

constexpr Sql present_key_of{"orgs.present_address_of", R"(
    SELECT present_address_of($1))"};

DatabaseRateLimit mails_of_sender(Call& call) {
    return {
        call.kernel(),
        {"workspace_mails_of_sender",
         call.use<Settings>().mails_of_one_sender_a_day,
         std::chrono::days(1)}};
}

DatabaseRateLimit mails_to_address(Call& call) {
    return {
        call.kernel(),
        {"workspace_mails_to_address",
         call.use<Settings>().mails_to_one_address_a_day,
         std::chrono::days(1)}};
}

}  // namespace

std::optional<DeferredRows<RateWindow>> count_sent(Call& call) {
    const auto& person = call.caller().user_id;
    if (!person) return std::nullopt;
    return mails_of_sender(call).count(call.tx(), person->str());
}

DeferredRows<RateWindow> count_received(Call& call) {
    return mails_to_address(call).count_presented(call.tx());
}

void present_address(Tx& tx, const std::string& key) { tx.queue(present_key, key); }

void present_address_of(Tx& tx, const Uuid& user) { tx.queue(present_key_of, user); }

void require_mails_left(
    Call& call, std::optional<DeferredRows<RateWindow>>& sent, DeferredRows<RateWindow>& received
) {
    if (sent)
        mails_of_sender(call).require(
            sent->one_or_retry(),
            "You have sent as many mails about workspaces as one person may in a day; go on "
            "tomorrow."
        );
    if (const auto window = received.one())
        mails_to_address(call).require(
            *window,
            "This address was sent as many mails about workspaces as it may be in a day; go on "
            "tomorrow."
        );
}

}  // namespace svc::orgs
