#include "modules/orgs/mail_limits.hpp"

namespace svc::orgs {

namespace {

constexpr Sql count_sender{"orgs.count_mail_of_sender", R"(
    INSERT INTO mail_counts AS c (counted, key)
    SELECT 'sender', svc_user()::text WHERE svc_user() IS NOT NULL
    ON CONFLICT (counted, key) DO UPDATE
    SET mails = CASE WHEN c.started_at > now() - interval '1 day' THEN c.mails + 1 ELSE 1 END,
        started_at = CASE WHEN c.started_at > now() - interval '1 day' THEN c.started_at
            ELSE now() END
    RETURNING mails,
        ceil(extract(epoch FROM started_at + interval '1 day' - now()))::bigint AS seconds)"};

constexpr Sql count_recipient{"orgs.count_mail_to_address", R"(
    INSERT INTO mail_counts AS c (counted, key)
    SELECT 'recipient', svc_credential() WHERE svc_credential() <> ''
    ON CONFLICT (counted, key) DO UPDATE
    SET mails = CASE WHEN c.started_at > now() - interval '1 day' THEN c.mails + 1 ELSE 1 END,
        started_at = CASE WHEN c.started_at > now() - interval '1 day' THEN c.started_at
            ELSE now() END
    RETURNING mails,
        ceil(extract(epoch FROM started_at + interval '1 day' - now()))::bigint AS seconds)"};

constexpr Sql present_key{"orgs.present_address", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

constexpr Sql present_key_of{"orgs.present_address_of", R"(
    SELECT present_address_of($1))"};

constexpr Sql drop_counts{"orgs.sweep_mail_counts", R"(
    DELETE FROM mail_counts WHERE started_at <= now() - interval '1 day')"};

// The longest pause that can be set.
constexpr Sql drop_member_mails{"orgs.sweep_member_mails", R"(
    DELETE FROM member_mails WHERE org_id IS NOT NULL AND sent_at <= now() - interval '1 day')"};

void require(const std::optional<MailCount>& count, std::int64_t most, const Failure& refusal) {
    if (!count || count->mails <= most) return;
    throw Failure(refusal).with_header("Retry-After", std::to_string(count->seconds));
}

}  // namespace

Later<MailCount> count_sent(Call& call) { return call.tx().later<MailCount>(count_sender); }

Later<MailCount> count_received(Call& call) { return call.tx().later<MailCount>(count_recipient); }

void present_address(Tx& tx, const std::string& key) { tx.queue(present_key, key); }

void present_address_of(Tx& tx, const Uuid& user) { tx.queue(present_key_of, user); }

void require_mails_left(Call& call, Later<MailCount>& sent, Later<MailCount>& received) {
    const auto& settings = call.use<Settings>();
    require(
        sent.one(),
        settings.mails_of_one_sender_a_day,
        Failure(
            Fault::rate_limited,
            "You have sent as many mails about workspaces as one person may in a day; go on "
            "tomorrow."
        )
            .with("rate_limit_reason", "workspace_mails_of_sender")
    );
    require(
        received.one(),
        settings.mails_to_one_address_a_day,
        Failure(
            Fault::rate_limited,
            "This address was sent as many mails about workspaces as it may be in a day; go on "
            "tomorrow."
        )
            .with("rate_limit_reason", "workspace_mails_to_address")
    );
}

void sweep_mail_counts(Tx& tx) {
    tx.queue(drop_counts);
    tx.queue(drop_member_mails);
}

}  // namespace svc::orgs
