#include "svc/module.hpp"

#include "modules/mail/metrics.hpp"
#include "modules/mail/outbox.hpp"

namespace svc::mail {

namespace {

class Mail final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        office_.emplace(kernel);
        kernel.offer<Outbox>(*office_);
        kernel.offer(*office_);
        kernel.tag("workspace", {});  // which the module orgs describes
        add_outbox_operations(kernel);
        kernel.use<Upkeep>().add_metrics([&kernel] { return mail_metrics(kernel); });
        kernel.every("mail.sweep", std::chrono::hours(1), [this] { office_->sweep(); });
    }
    void start() override { office_->start(kernel_->find<Driver>()); }
    void stop() noexcept override { office_->stop(); }

private:
    Kernel* kernel_ = nullptr;
    std::optional<Office> office_;
};

}  // namespace

}  // namespace svc::mail

SVC_MODULE(svc::mail::Mail, "mail");
