#include "svc/module.hpp"
#include "modules/mail/api.hpp"

#include <Poco/Logger.h>

namespace svc::mail_log {

/// Carries mails no further than the log: for a machine on which mail should reach nobody.
class MailLog final : public Module, public mail::Driver {
public:
    void open(Kernel& kernel) override { kernel.offer<mail::Driver>(*this); }

    void send(const mail::Message& message) override {
        Poco::Logger::get("mail").information(
            message.kind + " to " + message.to.str() + ": " + message.link
        );
    }
};

}  // namespace svc::mail_log

SVC_MODULE(svc::mail_log::MailLog, "mail-log", "mail");
