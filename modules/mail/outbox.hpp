#pragma once

#include "modules/mail/api.hpp"
#include "svc/jobs.hpp"

namespace svc::mail {

struct Settings {
    std::string from_address = "workboard@localhost.localdomain";
    std::string from_name = "Workboard";
    std::int64_t most_attempts = 12;
    std::int64_t retry_seconds = 60;
    std::int64_t keep_days = 90;
};
SVC_SHARED_RECORD(
    Settings,
    (from_address, "The sender of every mail.", length(3, 254), defaulted),
    (from_name, "The name in front of it.", length(1, 100), defaulted),
    (most_attempts,
     "How often a mail is tried, at growing intervals, before an admin has to requeue it.",
     range(1, 50),
     defaulted),
    (retry_seconds,
     "The pause before the second attempt; each further one is twice as long, up to six hours.",
     range(1, 3600),
     defaulted),
    (keep_days, "How long sent and failed mails are listed.", range(1, 3650), defaulted)
);

struct OutboxMail;

/// Puts mails into the outbox, and sends each by a job of its own.
class Mailer final : public Outbox {
public:
    static constexpr std::string_view name = "mail.Mailer";  ///< offered to the operations
    static constexpr std::string_view job = "mail.send";

    explicit Mailer(Kernel& kernel);

    void post(Call& call, const MailTemplate& mail_template) override;
    void post(Tx& tx, const Uuid& org, const MailTemplate& mail_template) override;
    /// Queues the job that sends a mail of the outbox, as if it were new.
    void enqueue(Tx& tx, const Uuid& org, const Uuid& mail);
    /// How mails are sent by that driver.
    JobKind job_kind(Driver& driver);
    /// Forgets mails that are long done with.
    void sweep();

private:
    JobOutcome send(JobRun& run, Driver& driver);
    Message message_of(const OutboxMail& mail) const;

    Kernel& kernel_;
    const Settings settings_;
    Email from_;
};

void add_outbox_operations(Kernel& kernel);

}  // namespace svc::mail
