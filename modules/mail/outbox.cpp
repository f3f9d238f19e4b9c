// Mails between the transaction that wants them sent and the driver that carries them away.

#include "modules/mail/outbox.hpp"

#include "modules/mail/lib/letter.hpp"

#include <Poco/Logger.h>

namespace svc::mail {

namespace {

constexpr Sql post_letter{"mail.post_letter", R"(
    INSERT INTO mail_outbox
        (org_id, id, template, recipient, subject, text_body, html_body, link)
    VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, '')))"};

constexpr Sql orgs_with_due{"mail.orgs_with_due", R"(
    SELECT DISTINCT org_id FROM mail_outbox
    WHERE status IN ('queued', 'sending') AND next_attempt_at <= now())"};

// Whoever took a mail and died with it loses it to the next after some minutes.
constexpr Sql take_due{"mail.take_due", R"(
    UPDATE mail_outbox
    SET status = 'sending',
        attempts = attempts + 1,
        next_attempt_at = now() + interval '5 minutes'
    WHERE org_id = $1 AND id = ANY (ARRAY(
        SELECT id FROM mail_outbox
        WHERE org_id = $1 AND status IN ('queued', 'sending') AND next_attempt_at <= now()
        ORDER BY next_attempt_at
        LIMIT 20
        FOR UPDATE SKIP LOCKED))
    RETURNING id, template, recipient, subject, text_body, html_body, link, created_time)"};

// What a sent mail said is nobody's business any more: its link may be a key.
constexpr Sql mark_sent{"mail.mark_sent", R"(
    UPDATE mail_outbox
    SET status = 'sent', sent_at = now(), last_error = NULL,
        text_body = '', html_body = '', link = NULL
    WHERE org_id = $1 AND id = $2)"};

// $4: attempts at most, and no further one when that is 0.
constexpr Sql mark_failed{"mail.mark_failed", R"(
    UPDATE mail_outbox
    SET status = CASE WHEN attempts >= $4 THEN 'failed' ELSE 'queued' END,
        next_attempt_at = now() + least(interval '6 hours', $5::interval * 2.0 ^ least(attempts - 1, 15)),
        last_error = left($3, 500)
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql put_back{"mail.put_back", R"(
    UPDATE mail_outbox
    SET status = 'queued', attempts = attempts - 1, next_attempt_at = now()
    WHERE org_id = $1 AND id = ANY ($2) AND status = 'sending')"};

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

struct DueMail {
    Uuid id;
    std::string template_;
    Email recipient;
    std::string subject, text_body, html_body;
    std::optional<std::string> link;
    Timestamp created_time;
};
SVC_RECORD(
    DueMail,
    (id),
    (template_),
    (recipient),
    (subject),
    (text_body),
    (html_body),
    (link),
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

Office::Office(Kernel& kernel)
    : kernel_(kernel),
      settings_(kernel.settings<Settings>()),
      from_(sender(settings_.from_address)) {}

Office::~Office() { stop(); }

void Office::post(Call& call, const Letter& letter) {
    const Caller* caller = call.caller_if_any();
    const bool of_workspace = letter.about == About::workspace && caller && caller->org_id;
    call.tx().queue(
        post_letter,
        of_workspace ? *caller->org_id : Uuid{},
        new_uuid(),
        letter.kind,
        letter.to,
        letter.subject.str(),
        as_text(letter),
        as_html(letter),
        letter.link
    );
    call.after_commit([this] { nudge(); });
}

void Office::start(Driver* driver) {
    driver_ = driver;
    if (!driver_) return log().warning("no mail driver is on: mails wait in the outbox");
    thread_ = std::thread([this] { run(); });
}

void Office::stop() noexcept {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

bool Office::is_stopping() const {
    std::lock_guard lock(mutex_);
    return stopping_;
}

void Office::nudge() {
    {
        std::lock_guard lock(mutex_);
        nudged_ = true;
    }
    wake_.notify_all();
}

void Office::run() {
    constexpr std::chrono::seconds between_looks{5};  // for retries, and other servers' mails
    for (;;) {
        bool more = false;
        try {
            more = send_some();
        } catch (const std::exception& problem) {
            log().error(std::string("the outbox cannot be read: ") + problem.what());
        }
        std::unique_lock lock(mutex_);
        if (!more) wake_.wait_for(lock, between_looks, [&] { return nudged_ || stopping_; });
        if (stopping_) return;
        nudged_ = false;
    }
}

bool Office::send_some() {
    std::vector<OrgRow> orgs;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.act_for_all_orgs();
        orgs = tx.all<OrgRow>(orgs_with_due);
    });
    for (const OrgRow& each : orgs) send_some_of(each.org_id);
    return !orgs.empty();
}

void Office::send_some_of(const Uuid& org) {
    // Long before those that are left would be taken for lost and sent by another server too.
    constexpr std::chrono::minutes longest_round{2};
    const auto give_up = std::chrono::steady_clock::now() + longest_round;
    std::vector<DueMail> due;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(org, std::nullopt);
        due = tx.all<DueMail>(take_due, org);
    });
    std::vector<Uuid> left;
    for (const DueMail& each : due) {
        if (is_stopping() || std::chrono::steady_clock::now() > give_up) left.push_back(each.id);
        else send(org, each);
    }
    if (left.empty()) return;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(org, std::nullopt);
        tx.queue(put_back, org, left);
    });
}

void Office::send(const Uuid& org, const DueMail& mail) {
    const auto problem = carry({
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
        }),
        .link = mail.link.value_or(""),
    });
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for(org, std::nullopt);
        if (!problem) return void(tx.queue(mark_sent, org, mail.id));
        tx.queue(
            mark_failed,
            org,
            mail.id,
            problem->why,
            problem->permanent ? 0 : settings_.most_attempts,
            std::chrono::seconds(settings_.retry_seconds)
        );
    });
}

std::optional<Office::Problem> Office::carry(const Message& message) {
    const auto note = [&](const std::exception& problem) {
        log().warning(
            "mail " + message.id.str() + " could not be sent: " + printable(problem.what())
        );
    };
    try {
        driver_->carry(message);
        return std::nullopt;
    } catch (const Undeliverable& problem) {
        note(problem);
        return Problem{printable(problem.what()), true};
    } catch (const std::exception& problem) {
        note(problem);
        return Problem{printable(problem.what()), false};
    }
}

void Office::sweep() {
    const std::chrono::seconds age = std::chrono::days(settings_.keep_days);
    std::vector<OrgRow> orgs;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.act_for_all_orgs();
        orgs = tx.all<OrgRow>(orgs_with_old, age);
    });
    for (const OrgRow& each : orgs)
        kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.act_for(each.org_id, std::nullopt);
            tx.queue(delete_old, each.org_id, age);
        });
}

}  // namespace svc::mail
