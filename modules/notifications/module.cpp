#include "svc/module.hpp"

#include "modules/notifications/broadcast.hpp"
#include "modules/notifications/digest.hpp"
#include "modules/notifications/due.hpp"
#include "modules/notifications/mails.hpp"
#include "modules/notifications/operations.hpp"
#include "modules/notifications/recorder.hpp"
#include "modules/notifications/removal.hpp"
#include "modules/notifications/work.hpp"

namespace svc::notifications {

namespace {

class Notifications final : public Module {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.tag(
            "notifications", "What you are told of: mentions, your cards, and what you watch."
        );
        add_list(kernel);
        add_reading(kernel);
        push_.emplace(kernel);
        kernel.offer(*push_);
        work_.emplace(kernel, settings_, *push_);
        kernel.offer<Notices>(*work_);
        kernel.add(recorder(kernel));
        add_due_cards(kernel, settings_.due_hours);
        add_digests(kernel);
        kernel.offer<auth::PreferencesWatcher>(digest_times_);
        add_retention(kernel, settings_.keep_days);
        add_unsubscribe_page(kernel);
        kernel.add(broadcast_command(kernel));
    }

private:
    Settings settings_;
    std::optional<Push> push_;
    std::optional<Work> work_;
    DigestTimes digest_times_;
};

}  // namespace

}  // namespace svc::notifications

SVC_MODULE(
    svc::notifications::Notifications, "notifications", "mail", "orgs", "auth", "agents", "boards"
);
