#pragma once

#include "modules/mail/api.hpp"

#include <condition_variable>
#include <thread>

namespace svc::mail {

struct Settings {
    std::string from_address = "workboard@localhost.localdomain";
    std::string from_name = "Workboard";
    std::int64_t most_attempts = 12;
};
SVC_RECORD(
    Settings,
    (from_address, "The sender of every mail.", length(3, 254), defaulted),
    (from_name, "The name in front of it.", length(1, 100), defaulted),
    (most_attempts,
     "How often a mail is tried, at growing intervals, before an admin has to requeue it.",
     range(1, 50),
     defaulted)
);

/// The outbox and the thread that empties it.
class Office final : public Outbox {
public:
    explicit Office(Kernel& kernel);
    ~Office() override;

    void post(Call& call, const Letter& letter) override;

    /// Begins to carry mails away; without a driver they wait.
    void start(Driver* driver);
    void stop() noexcept;

private:
    void run();
    /// Sends what is due; false when there is nothing more for now.
    bool send_some();
    void send_some_of(const Uuid& org);
    /// Why it could not be handed over; nothing when it was.
    std::optional<std::string> carry(const Message& message);
    void nudge();

    Kernel& kernel_;
    const Settings settings_;
    Email from_;
    Driver* driver_ = nullptr;

    std::mutex mutex_;
    std::condition_variable wake_;
    bool nudged_ = false, stopping_ = false;
    std::thread thread_;
};

}  // namespace svc::mail
