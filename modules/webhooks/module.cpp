#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "modules/webhooks/metrics.hpp"
#include "modules/webhooks/recorder.hpp"
#include "modules/webhooks/removal.hpp"
#include "modules/webhooks/sender.hpp"

namespace svc::webhooks {

namespace {

class Webhooks final : public Module {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.offer(settings_);
        kernel.tag("webhooks", "Events sent to other programs, signed.");
        add_webhook_operations(kernel);
        add_webhook_changes(kernel);
        add_delivery_operations(kernel);
        sender_.emplace(kernel, settings_);
        kernel.offer<Sending>(*sender_);
        recorder_.emplace(kernel, settings_, *sender_);
        kernel.add(recorder_->consumer());
        add_removal(kernel, settings_);
        kernel.use<Upkeep>().before_start([this] {
            check_ca_file("webhooks.ca_file", settings_.ca_file);
        });
        kernel.use<Upkeep>().add_metrics([this, &kernel] {
            return webhook_metrics(kernel, *sender_);
        });
    }
    void start() override { sender_->start(); }
    void stop() noexcept override { sender_->stop(); }

private:
    Settings settings_;
    std::optional<Sender> sender_;
    std::optional<Recorder> recorder_;
};

}  // namespace

}  // namespace svc::webhooks

SVC_MODULE(svc::webhooks::Webhooks, "webhooks", "mail", "orgs", "boards");
