#pragma once

#include "svc/kernel.hpp"

/// Mail: what other modules hand in, and the port that drivers implement.
namespace svc::mail {

/// Text that fits in one header line. Whatever would end the line or start another is gone once
/// it is made, so no header can be smuggled in.
class Line {
public:
    Line() = default;
    Line(std::string_view text) : text_(beginning(text)) {  // NOLINT: meant to convert
        for (char& each : text_)
            if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) each = ' ';
    }
    Line(const char* text) : Line(std::string_view(text)) {}         // NOLINT: meant to convert
    Line(const std::string& text) : Line(std::string_view(text)) {}  // NOLINT: meant to convert
    const std::string& str() const { return text_; }
    bool operator==(const Line&) const = default;

private:
    static constexpr std::size_t most_bytes = 300;
    /// As much of it as fits, cut between two characters of UTF-8.
    static std::string_view beginning(std::string_view text) {
        if (text.size() <= most_bytes) return text;
        std::size_t size = most_bytes;
        while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
        return text.substr(0, size);
    }
    std::string text_;
};

/// What a mail is about, which decides who sees that it was sent: the admins of the caller's
/// workspace, or nobody, since an account is in no workspace.
enum class About { workspace, account };

/// Something that a mail lists: a line, and where it leads.
struct MailItem {
    std::string text;
    std::string link{};  ///< absolute; empty when it leads nowhere
};

/// A mail as its author thinks of it: paragraphs, perhaps a list, and perhaps one thing to do. Both
/// the text and the HTML are made of it; everything in it is plain text and is escaped there.
struct MailTemplate {
    std::string kind;  ///< "verify_email": what lists and logs call it
    Email to;
    Line subject;
    std::vector<std::string> opening;
    std::string quote{};  ///< what somebody wrote: set apart, so that it passes for nothing else
    std::string link{};   ///< absolute; empty when there is nothing to follow
    std::string link_label{};       ///< what following it does: "Confirm this address"
    std::vector<MailItem> items{};  ///< between the opening and the link
    std::vector<std::string> closing{};
    /// For mails that somebody may not want: absolute, ends them by a POST of anybody who has it
    /// (RFC 8058), and shows a GET how. Empty for all others.
    std::string unsubscribe{};
    About about = About::workspace;
};

/// Offered to modules.
class Outbox {
public:
    static constexpr std::string_view name = "mail.Outbox";
    virtual ~Outbox() = default;

    /// Puts the mail into the outbox, in the call's transaction and without a round trip of
    /// its own. It goes out after the commit, at least once.
    virtual void post(Call& call, const MailTemplate& mail_template) = 0;
    /// The same in a transaction that is no request's: a mail of the workspace that it acts for.
    virtual void post(Tx& tx, const Uuid& org, const MailTemplate& mail_template) = 0;
};

/// A mail on its way out.
struct Message {
    Uuid id;
    std::string kind;
    Email from, to;
    std::string mime;  ///< the whole mail, lines ended by CR LF
    std::string link;  ///< the mail's, if it has one
};

/// Thrown by a driver: this mail will not be taken however often it is tried.
class [[gnu::visibility("default")]] Undeliverable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The port: what carries mails away. Of the plugins that are on, the first that is set up offers
/// one.
class Driver {
public:
    static constexpr std::string_view name = "mail.Driver";
    virtual ~Driver() = default;

    /// Hands the mail over; once it returns the mail is gone from here. Called on several threads
    /// at once; takes a minute at most. Throws Undeliverable, or any other std::exception, which
    /// means "try again later"; the text is kept for admins.
    virtual void send(const Message& message) = 0;
};

}  // namespace svc::mail
