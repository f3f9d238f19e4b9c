#pragma once

#include "modules/mail/api.hpp"

#include <condition_variable>
#include <thread>

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

struct DueMail;

/// The outbox and the thread that empties it.
class Office final : public Outbox {
public:
    static constexpr std::string_view name = "mail.Office";  ///< offered to the operations

    explicit Office(Kernel& kernel);
    ~Office() override;

    void post(Call& call, const Letter& letter) override;

    /// Begins to carry mails away; without a driver they wait.
    void start(Driver* driver);
    void stop() noexcept;
    /// Looks for mails that are due.
    void nudge();
    /// Forgets mails that are long done with.
    void sweep();

private:
    void run();
    /// Sends what is due; false when there is nothing more for now.
    bool send_some();
    void send_some_of(const Uuid& org);
    void send(const Uuid& org, const DueMail& mail);
    bool is_stopping() const;
    struct Problem {
        std::string why;
        bool permanent = false;
    };
    /// Why it could not be handed over; nothing when it was.
    std::optional<Problem> carry(const Message& message);

    Kernel& kernel_;
    const Settings settings_;
    Email from_;
    Driver* driver_ = nullptr;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    bool nudged_ = false, stopping_ = false;
    std::thread thread_;
};

void add_outbox_operations(Kernel& kernel);

}  // namespace svc::mail
