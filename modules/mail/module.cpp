#include "svc/module.hpp"

#include "modules/mail/metrics.hpp"
#include "modules/mail/outbox.hpp"
#include "svc/workspace_jobs.hpp"

#include <Poco/Logger.h>

namespace svc::mail {

namespace {

class Mail final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        mailer_.emplace(kernel);
        kernel.offer<Outbox>(*mailer_);
        kernel.offer(*mailer_);
        kernel.tag("workspace", {});  // which the module orgs describes
        add_outbox_operations(kernel);
        kernel.use<Upkeep>().add_metrics([&kernel] { return mail_metrics(kernel); });
        add_recurring_job(kernel, "mail.sweep", std::chrono::hours(1), [this] {
            mailer_->sweep();
        });
    }
    /// Without a driver mails wait in the outbox.
    void start() override {
        if (auto* driver = kernel_->find<Driver>())
            kernel_->use<Jobs>().add(mailer_->job_kind(*driver));
        else Poco::Logger::get("mail").warning("no mail driver is on: mails wait in the outbox");
    }

private:
    Kernel* kernel_ = nullptr;
    std::optional<Mailer> mailer_;
};

}  // namespace

}  // namespace svc::mail

SVC_MODULE(svc::mail::Mail, "mail");
