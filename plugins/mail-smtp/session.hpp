#pragma once

#include "modules/mail/api.hpp"
#include "plugins/mail-smtp/settings.hpp"

#include <Poco/Net/Context.h>
#include <Poco/Net/DialogSocket.h>

#include <set>

/// One conversation with a mail server.
namespace svc::mail_smtp {

/// SMTP over Poco's sockets. Poco's own session reads on for ever when a server breaks off in the
/// middle of an answer, and takes a log-in apart that is longer than a line.
class Session {
public:
    Session(
        const Poco::Net::StreamSocket& connected,
        const Settings& settings,
        Poco::Net::Context::Ptr context
    );

    /// Greets, encrypts and logs in, as the settings say.
    void begin();
    /// Once it has thrown, the conversation is over.
    void send(const mail::Message& message);
    /// Says good-bye, which takes a second at most; the mails are sent whether or not the server
    /// hears it.
    void end() noexcept;

    int descriptor() const { return descriptor_; }
    /// How many mails it has begun to hand over: of the last one the server may have all.
    int mails() const { return mails_; }
    /// Whether the server has said nothing unasked, as when it ends the conversation.
    bool is_quiet() const;

private:
    struct Socket : Poco::Net::DialogSocket {
        using DialogSocket::DialogSocket;
        using DialogSocket::operator=;
        using DialogSocket::receiveLine;  // the one that has a limit
    };
    struct Reply {
        int status = 0;
        std::string text;  ///< its lines, without the status
        bool good() const { return status / 100 == 2; }
    };
    Reply command(const std::string& line);
    Reply read();
    /// Throws unless the server agreed.
    void require(const Reply& reply, std::string_view what) const;
    /// The same about the mail itself: a 5xx is for ever.
    void require_taken(const Reply& reply) const;

    void greet();
    void start_tls();
    void log_in();
    bool offers(const std::string& ability) const { return abilities_.contains(ability); }

    const Settings& settings_;
    Poco::Net::Context::Ptr context_;
    const int descriptor_;
    Socket socket_;
    int mails_ = 0;
    std::set<std::string> abilities_;  // words of the answer to EHLO: "STARTTLS", "AUTH PLAIN"
};

}  // namespace svc::mail_smtp
