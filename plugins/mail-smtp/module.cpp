#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "plugins/mail-smtp/resting.hpp"
#include "svc/operator/upkeep.hpp"
#include "svc/socket_deadline.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/NetException.h>

/// Mails over SMTP, one after the other in the same conversations while there are more.
namespace svc::mail_smtp {

SVC_RECORD(
    Settings,
    (host,
     "The server that takes the mails; empty: this driver stays off.",
     length(0, 253),
     defaulted),
    (port,
     "Its port: 587 with `starttls`, 465 with `tls`, 25 with `none`.",
     range(1, 65535),
     defaulted),
    (security,
     "`starttls`: encrypted after the greeting, or not at all sent. `tls`: from the first byte. "
     "`none`: in the clear, for a server on this machine.",
     defaulted),
    (username, "Whom to log in as; empty: no log-in.", length(0, 320), defaulted),
    (password, "The password of that log-in.", length(0, 4096), defaulted, secret),
    (ca_file,
     "A PEM file with the authorities that may vouch for the server; empty: the system's.",
     length(0, 4096),
     defaulted),
    (greeting,
     "The name this server gives itself; empty: its own host name.",
     length(0, 253),
     matches("^[A-Za-z0-9.:\\[\\]-]*$"),
     defaulted),
    (timeout_seconds,
     "For everything it takes to hand over one mail, together.",
     range(1, 60),
     defaulted)
);

namespace {

using Clock = std::chrono::steady_clock;

class MailSmtp final : public Module, public mail::Driver {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        if (settings_.host.empty()) return;
        if (settings_.security == Security::none && !is_this_machine(settings_.host))
            throw std::runtime_error(
                "mail-smtp.security: none is for a server on this machine; mails hold keys"
            );
        if (settings_.security != Security::none) {
            check_ca_file("mail-smtp.ca_file", settings_.ca_file);
            context_ = tls_context(settings_.ca_file);
        }
        kernel.offer<mail::Driver>(*this);
        kernel.use<Upkeep>().add(Check{"mail", [this] { return check(); }});
    }

    void send(const mail::Message& message) override {
        const auto end = end_of_attempt();
        if (auto session = resting_.take(); session && send_by(*session, message, end))
            return resting_.put(std::move(session));
        auto session = in_words([&] { return begin(end); });
        in_words([&] { in_time(*session, end, [&] { session->send(message); }); });
        resting_.put(std::move(session));
    }

    void stop() noexcept override { resting_.stop(); }

private:
    Clock::time_point end_of_attempt() const {
        return Clock::now() + std::chrono::seconds(settings_.timeout_seconds);
    }

    /// Greets and logs in, and leaves.
    Finding check() const {
        in_words([&] { return begin(end_of_attempt()); })->end();
        return {
            Finding::Level::ok,
            "mails are taken by " + settings_.host + ":" + std::to_string(settings_.port)};
    }

    std::unique_ptr<Session> begin(Clock::time_point end) const {
        const auto socket = dial(settings_.host, static_cast<std::uint16_t>(settings_.port), end);
        auto session = std::make_unique<Session>(socket, settings_, context_);
        in_time(*session, end, [&] { session->begin(); });
        return session;
    }

    /// In a conversation that rested. False when it ended without the mail: the server may have
    /// had enough of it, so another one is worth a try.
    bool send_by(Session& session, const mail::Message& message, Clock::time_point end) const {
        const int before = session.mails();
        try {
            in_words([&] { in_time(session, end, [&] { session.send(message); }); });
            return true;
        } catch (const mail::Undeliverable&) {
            throw;
        } catch (const std::exception&) {
            if (session.mails() > before || Clock::now() >= end) throw;
            return false;
        }
    }

    template <class Work>
    void in_time(const Session& session, Clock::time_point end, Work work) const {
        const SocketDeadline deadline(session.descriptor(), end);
        try {
            work();
        } catch (const Poco::Exception&) {
            if (!deadline.passed()) throw;
            throw std::runtime_error(settings_.host + " takes too long");
        }
    }

    /// What goes wrong below says where.
    template <class Work>
    std::invoke_result_t<Work> in_words(Work work) const {
        try {
            return work();
        } catch (const Poco::Exception& problem) {
            throw std::runtime_error(settings_.host + ": " + problem.displayText());
        }
    }

    Settings settings_;
    Poco::Net::Context::Ptr context_;
    RestingSessions resting_;  // which use both
};

}  // namespace

}  // namespace svc::mail_smtp

SVC_MODULE(svc::mail_smtp::MailSmtp, "mail-smtp", "mail");
