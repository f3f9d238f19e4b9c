#include "svc/module.hpp"

#include "modules/feedback/activity.hpp"
#include "modules/feedback/feedback.hpp"

namespace svc::feedback {

namespace {

class Feedback final : public Module {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.tag("feedback", "Reports to whoever runs the service, and surveys.");
        kernel.offer(settings_);
        add_reports(kernel);
        add_screenshots(kernel);
        add_surveys(kernel);
        add_removal_of_gone(kernel);
        if (settings_.surveys) kernel.add(activity_.consumer());
        kernel.add(feedback_command(kernel));
        kernel.add(surveys_command(kernel));
    }

private:
    Settings settings_;
    Activity activity_;
};

}  // namespace

}  // namespace svc::feedback

SVC_MODULE(svc::feedback::Feedback, "feedback", "orgs", "auth", "files");
