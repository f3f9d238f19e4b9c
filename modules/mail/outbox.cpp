// Mails between the transaction that wants them sent and the driver that carries them away.

#include "modules/mail/outbox.hpp"

#include "modules/mail/lib/mail_template.hpp"

#include <Poco/Logger.h>

namespace svc::mail {

namespace {

constexpr Sql post_mail{"mail.post_mail", R"(
    INSERT INTO mail_outbox
        (org_id, id, template, recipient, subject, text_body, html_body, link, unsubscribe)
    VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), nullif($9, '')))"};

// A mail that is sent or given up is nobody's to take.
constexpr Sql take_mail{"mail.take", R"(
    UPDATE mail_outbox SET status = 'sending', attempts = $3
    WHERE org_id = $1 AND id = $2 AND status IN ('queued', 'sending')
    RETURNING id, template, recipient, subject, text_body, html_body, link, unsubscribe,
        created_time)"};

// What a sent mail said is nobody's business any more: its link may be a key.
constexpr Sql mark_sent{"mail.mark_sent", R"(
    UPDATE mail_outbox
    SET status = 'sent', sent_at = now(), last_error = NULL,
        text_body = '', html_body = '', link = NULL, unsubscribe = NULL
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql mark_tried{"mail.mark_tried", R"(
    UPDATE mail_outbox SET status = $3, last_error = left($4, 500)
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql delete_old{"mail.sweep", R"(
    DELETE FROM mail_outbox
    WHERE org_id = $1 AND status IN ('sent', 'failed') AND created_time < now() - $2::interval)"};

constexpr Sql orgs_with_old{"mail.orgs_with_old", R"(
    SELECT DISTINCT org_id FROM mail_outbox
    WHERE status IN ('sent', 'failed') AND created_time < now() - $1::interval)"};

struct OrgRow {
    Uuid org_id;
};
SVC_RECORD(OrgRow, (org_id));

}  // namespace

struct OutboxMail {
    Uuid id;
    std::string template_;
    Email recipient;
    std::string subject, text_body, html_body;
    std::optional<std::string> link, unsubscribe;
    Timestamp created_time;
};
SVC_RECORD(
    OutboxMail,
    (id),
    (template_),
    (recipient),
    (subject),
    (text_body),
    (html_body),
    (link),
    (unsubscribe),
    (created_time)
);

namespace {

/// What a server said, fit for the database and for a line of a log.
std::string printable(std::string_view text) {
    std::string out(text);
    for (char& each : out)
        if (each < 0x20 || each == 0x7F) each = '?';  // bytes from 0x80 on are negative
    return out;
}

Email sender(const std::string& address) {
    if (auto from = Email::parse(address)) return *from;
    throw std::runtime_error("mail.from_address: " + address + " is not a mail address");
}

Poco::Logger& log() { return Poco::Logger::get("mail"); }

}  // namespace

Mailer::Mailer(Kernel& kernel)
    : kernel_(kernel),
      settings_(kernel.settings<Settings>()),
      from_(sender(settings_.from_address)) {}

void Mailer::post(Call& call, const MailTemplate& mail_template) {
    const Caller* caller = call.caller_if_any();
    const bool of_workspace = mail_template.about == About::workspace && caller && caller->org_id;
    post(call.tx(), of_workspace ? *caller->org_id : Uuid{}, mail_template);
}

void Mailer::post(Tx& tx, const Uuid& org, const MailTemplate& mail_template) {
    const Uuid id = new_uuid();
    tx.queue(
        post_mail,
        org,
        id,
        mail_template.kind,
        mail_template.to,
        mail_template.subject.str(),
        as_text(mail_template),
        as_html(mail_template),
        mail_template.link,
        mail_template.unsubscribe
    );
    enqueue(tx, org, id);
}

void Mailer::enqueue(Tx& tx, const Uuid& org, const Uuid& mail) {
    kernel_.use<Jobs>().enqueue(tx, {.kind = job, .org = org, .key = mail.str()});
}

JobKind Mailer::job_kind(Driver& driver) {
    return {
        .name = std::string(job),
        .run = [this, &driver](JobRun& run) { return send(run, driver); },
        .at_once = 4,
        .at_once_per_workspace = 2,
        .most_attempts = settings_.most_attempts,
        .pause = std::chrono::seconds(settings_.retry_seconds),
        .longest_pause = std::chrono::hours(6),
    };
}

Message Mailer::message_of(const OutboxMail& mail) const {
    return {
        .id = mail.id,
        .kind = mail.template_,
        .from = from_,
        .to = mail.recipient,
        .mime = as_mime({
            .id = mail.id,
            .from = from_,
            .from_name = settings_.from_name,
            .to = mail.recipient,
            .subject = mail.subject,
            .text = mail.text_body,
            .html = mail.html_body,
            .date = mail.created_time,
            .unsubscribe = mail.unsubscribe.value_or(""),
        }),
        .link = mail.link.value_or(""),
    };
}

JobOutcome Mailer::send(JobRun& run, Driver& driver) {
    const Uuid id = Uuid::parse(run.key()).value();
    std::optional<OutboxMail> mail;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(run.org(), std::nullopt);
        mail = tx.one<OutboxMail>(take_mail, run.org(), id, run.attempt());
    });
    if (!mail) return JobOutcome::done;
    std::string why;
    bool permanent = false;
    try {
        driver.send(message_of(*mail));
    } catch (const Undeliverable& problem) {
        permanent = true;
        why = printable(problem.what());
    } catch (const std::exception& problem) {
        permanent = run.last_attempt();
        why = printable(problem.what());
    }
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(run.org(), std::nullopt);
        if (why.empty()) tx.queue(mark_sent, run.org(), id);
        else tx.queue(mark_tried, run.org(), id, permanent ? "failed" : "queued", why);
        if (why.empty() || permanent) run.complete(tx);
    });
    if (why.empty()) return JobOutcome::done;
    const std::string what = mail->template_ + " to " + mail->recipient.str();
    log().warning(what + " could not be sent: " + why);
    if (!permanent) throw std::runtime_error(why);
    return JobOutcome::done;
}

void Mailer::sweep() {
    const std::chrono::seconds age = std::chrono::days(settings_.keep_days);
    std::vector<OrgRow> orgs;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        orgs = tx.all<OrgRow>(orgs_with_old, age);
    });
    for (const OrgRow& each : orgs)
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(each.org_id, std::nullopt);
            tx.queue(delete_old, each.org_id, age);
        });
}

}  // namespace svc::mail
