#pragma once

#include "modules/mail/api.hpp"

namespace svc::mail {

std::string as_text(const MailTemplate& mail_template);
std::string as_html(const MailTemplate& mail_template);

/// A mail of RFC 5322 with both forms: 8-bit, or quoted-printable where a line is too long.
struct Envelope {
    Uuid id;  ///< the same on every attempt, and so is the Message-ID
    Email from;
    Line from_name;
    Email to;
    Line subject;
    std::string_view text, html;
    Timestamp date;
    std::string unsubscribe{};  ///< an address in ASCII; empty: nothing to unsubscribe from
};
std::string as_mime(const Envelope& envelope);

}  // namespace svc::mail
