#include "modules/mail/lib/mail_template.hpp"

#include "svc/encoding.hpp"

#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>

#include <algorithm>
#include <sstream>

namespace svc::mail {

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char each : text) switch (each) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += each;
        }
    return out;
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// RFC 2047: encoded words of at most 75 characters that never split a character.
std::string encoded_word(std::string_view text) {
    constexpr std::size_t bytes_a_word = 42;
    std::string out;
    while (!text.empty()) {
        std::size_t size = std::min(bytes_a_word, text.size());
        while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
            --size;
        if (!out.empty()) out += "\r\n ";
        out += "=?utf-8?B?" + base64(text.substr(0, size), Base64::padded) + "?=";
        text.remove_prefix(size);
    }
    return out;
}

std::string header_text(const Line& line) {
    return is_ascii(line.str()) && line.str().find("=?") == std::string::npos
               ? line.str()
               : encoded_word(line.str());
}

/// A name in front of an address.
std::string phrase(const Line& line) {
    if (!is_ascii(line.str())) return encoded_word(line.str());
    std::string out = "\"";
    for (const char each : line.str()) {
        if (each == '"' || each == '\\') out += '\\';
        out += each;
    }
    return out += '"';
}

/// RFC 5321 lets a line have 998 bytes; whoever passes the mail on may cut it there.
bool has_long_line(std::string_view text) {
    constexpr std::size_t longest = 998;
    while (text.size() > longest) {
        const auto end = text.find('\n');
        if (std::min(end, text.size()) > longest) return true;
        text.remove_prefix(end + 1);
    }
    return false;
}

/// RFC 2045, in lines of at most 76 characters.
void append_quoted(std::string_view text, std::string& out) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::size_t longest = 72;
    std::size_t column = 0;
    for (const char each : text) {
        if (each == '\r') continue;
        if (each == '\n') {
            out += "\r\n";
            column = 0;
            continue;
        }
        if (column >= longest) {
            out += "=\r\n";
            column = 0;
        }
        const auto byte = static_cast<unsigned char>(each);
        if (byte > 0x20 && byte < 0x7F && each != '=') {
            out += each;
            ++column;
        } else {
            ((out += '=') += digits[byte >> 4]) += digits[byte & 15];
            column += 3;
        }
    }
    out += "\r\n";
}

void append_lines(std::string_view text, std::string& out) {
    for (const char each : text) {
        if (each == '\r') continue;
        if (each == '\n') out += '\r';
        out += each;
    }
    out += "\r\n";
}

std::string html_list(const std::vector<MailItem>& items) {
    if (items.empty()) return {};
    std::string out = "<ul style=\"margin:0 0 16px;padding:0 0 0 20px\">\n";
    for (const MailItem& each : items) {
        out += "<li style=\"margin:0 0 8px\">";
        if (each.link.empty()) out += escaped(each.text);
        else out += "<a href=\"" + escaped(each.link) + "\">" + escaped(each.text) + "</a>";
        out += "</li>\n";
    }
    return out += "</ul>\n";
}

std::string html_lines(std::string_view text) {
    std::string out;
    for (const char each : escaped(text)) {
        if (each == '\n') out += "<br>";
        out += each;
    }
    return out;
}

std::string html_quote(std::string_view text) {
    if (text.empty()) return {};
    return "<blockquote style=\"margin:0 0 16px;padding:0 0 0 12px;border-left:3px solid "
           "#d1d5db\">" +
           html_lines(text) + "</blockquote>\n";
}

std::string text_quote(std::string_view text) {
    if (text.empty()) return {};
    std::string out = "> ";
    for (const char each : text) {
        out += each;
        if (each == '\n') out += "> ";
    }
    return out += "\n\n";
}

std::string domain_of(const Email& address) {
    return address.str().substr(address.str().rfind('@') + 1);
}

}  // namespace

std::string as_text(const MailTemplate& mail_template) {
    std::string out;
    for (const std::string& each : mail_template.opening) out += each + "\n\n";
    out += text_quote(mail_template.quote);
    for (const MailItem& each : mail_template.items)
        out += "- " + each.text + (each.link.empty() ? "" : "\n  " + each.link) + "\n\n";
    if (!mail_template.link.empty())
        out += mail_template.link_label + ":\n" + mail_template.link + "\n\n";
    for (const std::string& each : mail_template.closing) out += each + "\n\n";
    if (!mail_template.unsubscribe.empty())
        out += "No more of these mails:\n" + mail_template.unsubscribe + "\n\n";
    out.pop_back();
    return out;
}

std::string as_html(const MailTemplate& mail_template) {
    constexpr std::string_view paragraph = "<p style=\"margin:0 0 16px\">";
    std::string out =
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>" +
        escaped(mail_template.subject.str()) +
        "</title></head>\n<body style=\"margin:0;padding:32px;font:16px/1.5 sans-serif\">\n"
        "<div style=\"max-width:560px;margin:auto\">\n";
    for (const std::string& each : mail_template.opening)
        (out += paragraph) += escaped(each) + "</p>\n";
    out += html_quote(mail_template.quote);
    out += html_list(mail_template.items);
    if (!mail_template.link.empty()) {
        const std::string link = escaped(mail_template.link);
        (out += paragraph) += "<a href=\"" + link +
                              "\" style=\"display:inline-block;padding:10px 18px;"
                              "background:#1f2937;color:#fff;border-radius:6px;"
                              "text-decoration:none\">" +
                              escaped(mail_template.link_label) + "</a></p>\n";
        (out += paragraph) += "<a href=\"" + link + "\">" + link + "</a></p>\n";
    }
    for (const std::string& each : mail_template.closing)
        (out += paragraph) += escaped(each) + "</p>\n";
    if (!mail_template.unsubscribe.empty())
        (out += paragraph) += "<a href=\"" + escaped(mail_template.unsubscribe) +
                              "\" style=\"color:#6b7280\">No more of these mails</a></p>\n";
    return out += "</div>\n</body></html>\n";
}

std::string as_mime(const Envelope& envelope) {
    const std::string id = envelope.id.str();
    const std::string boundary = "part-" + id;
    std::string out;
    const auto header = [&](std::string_view name, const std::string& value) {
        (out += name) += ": ";
        out += value + "\r\n";
    };
    const auto part = [&](std::string_view type, std::string_view body) {
        out += "--" + boundary + "\r\n";
        header("Content-Type", std::string(type) + "; charset=utf-8");
        const bool quoted = has_long_line(body);
        header("Content-Transfer-Encoding", quoted ? "quoted-printable" : "8bit");
        out += "\r\n";
        quoted ? append_quoted(body, out) : append_lines(body, out);
    };
    header("From", phrase(envelope.from_name) + " <" + envelope.from.str() + ">");
    header("To", envelope.to.str());
    header("Subject", header_text(envelope.subject));
    header(
        "Date",
        Poco::DateTimeFormatter::format(
            Poco::Timestamp(envelope.date.micros), Poco::DateTimeFormat::RFC1123_FORMAT
        )
    );
    header("Message-ID", "<" + id + "@" + domain_of(envelope.from) + ">");
    header("Auto-Submitted", "auto-generated");
    if (!envelope.unsubscribe.empty()) {
        header("List-Unsubscribe", "<" + envelope.unsubscribe + ">");
        header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click");
    }
    header("MIME-Version", "1.0");
    header("Content-Type", "multipart/alternative; boundary=\"" + boundary + "\"");
    out += "\r\n";
    part("text/plain", envelope.text);
    part("text/html", envelope.html);
    return out += "--" + boundary + "--\r\n";
}

}  // namespace svc::mail
