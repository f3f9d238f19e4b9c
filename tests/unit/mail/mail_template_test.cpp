#include "modules/mail/lib/mail_template.hpp"

#include <gmock/gmock.h>

namespace svc::mail {
namespace {

using testing::HasSubstr;
using testing::Not;

MailTemplate hostile_mail() {
    return {
        .kind = "test",
        .to = *Email::parse("ada@example.com"),
        .subject = "Hello\r\nBcc: everybody@example.com",
        .opening = {"<script>alert(\"1\")</script> & 'more'"},
        .link = "https://example.com/?a=1&b=\"><script>",
        .link_label = "<b>Go</b>",
        .closing = {"Bye <i>now</i>"},
    };
}

std::string mime_of(const MailTemplate& mail_template, const Line& from_name = "Workboard") {
    const std::string text = as_text(mail_template), html = as_html(mail_template);
    return as_mime({
        .id = *Uuid::parse("0192f0c1-2d3e-7f40-8123-456789abcdef"),
        .from = *Email::parse("board@example.com"),
        .from_name = from_name,
        .to = mail_template.to,
        .subject = mail_template.subject,
        .text = text,
        .html = html,
        .date = Timestamp{1'795'000'000'000'000},
        .unsubscribe = mail_template.unsubscribe,
    });
}

std::vector<std::string> header_lines(const std::string& mime) {
    std::vector<std::string> lines;
    for (std::size_t at = 0;;) {
        const auto end = mime.find("\r\n", at);
        if (end == at || end == mime.npos) return lines;
        lines.push_back(mime.substr(at, end - at));
        at = end + 2;
    }
}

TEST(MailTemplate, IsEscapedInHtml) {
    const std::string html = as_html(hostile_mail());
    EXPECT_THAT(
        html, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more")
    );
    EXPECT_THAT(
        html, HasSubstr("href=\"https://example.com/?a=1&amp;b=&quot;&gt;&lt;script&gt;\"")
    );
    EXPECT_THAT(html, Not(HasSubstr("<script>")));
    EXPECT_THAT(html, Not(HasSubstr("<b>")));
    EXPECT_THAT(html, Not(HasSubstr("<i>")));
}

// What somebody wrote looks like nothing that the service says, such as another link to follow.
TEST(MailTemplate, SetsApartWhatItQuotes) {
    auto mail = hostile_mail();
    EXPECT_THAT(as_text(mail), Not(HasSubstr("\n> ")));
    EXPECT_THAT(as_html(mail), Not(HasSubstr("blockquote")));
    mail.quote = "Hello <i>\n\nOpen Workboard:\nhttps://evil.example";
    EXPECT_THAT(
        as_text(mail),
        HasSubstr("\n\n> Hello <i>\n> \n> Open Workboard:\n> https://evil.example\n\n<b>Go</b>")
    );
    EXPECT_THAT(
        as_html(mail),
        HasSubstr(
            ">Hello &lt;i&gt;<br>\n<br>\nOpen Workboard:<br>\nhttps://evil.example</blockquote>"
        )
    );
}

TEST(MailTemplate, StandsAsItIsInText) {
    const std::string text = as_text(hostile_mail());
    EXPECT_THAT(text, HasSubstr("<script>alert(\"1\")</script> & 'more'"));
    EXPECT_THAT(text, HasSubstr("https://example.com/?a=1&b="));
}

TEST(MailTemplate, ListsWhatItListsBetweenOpeningAndLink) {
    auto mail = hostile_mail();
    mail.items = {{"One <b>", "https://example.com/?a=1&b=2"}, {"and 2 more"}};
    const std::string text = as_text(mail), html = as_html(mail);
    EXPECT_THAT(
        text, HasSubstr("\n\n- One <b>\n  https://example.com/?a=1&b=2\n\n- and 2 more\n\n")
    );
    EXPECT_LT(text.find("and 2 more"), text.find("<b>Go</b>"));
    EXPECT_THAT(
        html, HasSubstr("<a href=\"https://example.com/?a=1&amp;b=2\">One &lt;b&gt;</a></li>")
    );
    EXPECT_THAT(html, HasSubstr(">and 2 more</li>"));
}

TEST(Mail, ThatSomebodyMayNotWantSaysHowToEndIt) {
    auto mail = hostile_mail();
    const auto has_header = [&] {
        return testing::Value(
            header_lines(mime_of(mail)), testing::Contains(testing::StartsWith("List-Unsubscribe"))
        );
    };
    EXPECT_FALSE(has_header());
    mail.unsubscribe = "https://example.com/unsubscribe?token=a.b.c";
    const auto lines = header_lines(mime_of(mail));
    EXPECT_THAT(
        lines, testing::Contains("List-Unsubscribe: <https://example.com/unsubscribe?token=a.b.c>")
    );
    EXPECT_THAT(lines, testing::Contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"));
    EXPECT_THAT(as_text(mail), HasSubstr("https://example.com/unsubscribe?token=a.b.c"));
    EXPECT_THAT(as_html(mail), HasSubstr("href=\"https://example.com/unsubscribe?token=a.b.c\""));
}

TEST(Mail, NoHeaderCanBeSmuggledIn) {
    const auto lines = header_lines(mime_of(hostile_mail(), "A\r\nX-Evil: 1\nY: 2\0Z"));
    for (const std::string& line : lines) {
        EXPECT_THAT(line, Not(testing::StartsWith("Bcc")));
        EXPECT_THAT(line, Not(testing::StartsWith("X-Evil")));
        EXPECT_THAT(line, Not(testing::StartsWith("Y:")));
    }
    EXPECT_THAT(lines, testing::Contains("Subject: Hello  Bcc: everybody@example.com"));
    EXPECT_THAT(lines, testing::Contains("To: ada@example.com"));
}

TEST(Mail, QuotesInTheSendersNameAreEscaped) {
    EXPECT_THAT(
        header_lines(mime_of(hostile_mail(), "The \"Board\" \\")),
        testing::Contains(R"(From: "The \"Board\" \\" <board@example.com>)")
    );
}

TEST(Mail, HeadersAreAsciiInLinesOfTolerableLength) {
    MailTemplate mail_template = hostile_mail();
    mail_template.subject =
        "Grüße aus Zürich, ein Betreff, der so lang ist, dass er nicht in ein "
        "einziges Wort der Kodierung passt – 日本語も";
    for (const std::string& line : header_lines(mime_of(mail_template, "Çelik"))) {
        EXPECT_LE(line.size(), 100u) << line;
        for (const char each : line) EXPECT_GE(each, 0x20) << line;
    }
}

TEST(Mail, EncodedWordsNeverSplitACharacter) {
    // Of each word: 'a' and then characters of three bytes, so that some word ends inside one.
    for (std::size_t lead = 0; lead < 4; ++lead) {
        MailTemplate mail_template = hostile_mail();
        std::string subject(lead, 'a');
        for (int i = 0; i < 40; ++i) subject += "語";
        mail_template.subject = subject;
        const std::string mime = mime_of(mail_template);
        std::size_t words = 0;
        for (auto at = mime.find("=?utf-8?B?"); at != mime.npos;
             at = mime.find("=?utf-8?B?", at + 1)) {
            const auto start = at + 10, end = mime.find("?=", start);
            const auto base64 = mime.substr(start, end - start);
            const std::size_t padding = std::ranges::count(base64, '=');
            const std::size_t bytes = base64.size() / 4 * 3 - padding;
            EXPECT_EQ((bytes - (words == 0 ? lead : 0)) % 3, 0u) << base64;
            ++words;
        }
        EXPECT_GE(words, 3u);
    }
}

TEST(Mail, HasOneMessageIdWhateverTheAttempt) {
    EXPECT_EQ(mime_of(hostile_mail()), mime_of(hostile_mail()));
    EXPECT_THAT(
        header_lines(mime_of(hostile_mail())),
        testing::Contains("Message-ID: <0192f0c1-2d3e-7f40-8123-456789abcdef@example.com>")
    );
}

TEST(Mail, EndsEveryLineWithCrLf) {
    MailTemplate mail_template = hostile_mail();
    mail_template.opening = {"one\ntwo\r\nthree\rfour"};
    const std::string mime = mime_of(mail_template);
    for (std::size_t at = 0; at < mime.size(); ++at) {
        if (mime[at] == '\n') {
            EXPECT_EQ(mime[at - 1], '\r') << at;
        }
        if (mime[at] == '\r') {
            EXPECT_EQ(mime[at + 1], '\n') << at;
        }
    }
}

TEST(Mail, ALineThatServersWouldCutIsQuoted) {
    MailTemplate mail_template = hostile_mail();
    mail_template.opening = {std::string(1500, 'x') + " = ü\n.\n"};
    const std::string mime = mime_of(mail_template);
    EXPECT_THAT(mime, HasSubstr("Content-Transfer-Encoding: quoted-printable"));
    EXPECT_THAT(mime, HasSubstr("=20=3D=20=C3=BC\r\n.\r\n"));
    for (std::size_t at = 0; at < mime.size();) {
        const auto end = mime.find("\r\n", at);
        EXPECT_LE(end - at, 998u) << mime.substr(at, 80);
        at = end + 2;
    }
    EXPECT_THAT(mime_of(hostile_mail()), Not(HasSubstr("quoted-printable")));
}

TEST(Mail, NoAddressCanEndItsLine) {
    for (const char* text :
         {"ada@example.com\r\nBcc: eve@example.com",
          "ada@example.com\nX: y",
          "ada@example.com>\r\nRCPT TO:<eve@example.com",
          "ada\r\n@example.com",
          "ada@exam\tple.com",
          "<ada@example.com>",
          "ada@example.com, eve@example.com",
          "ada@example.com BODY=7BIT"})
        EXPECT_FALSE(Email::parse(text)) << text;
}

TEST(Line, IsCutBetweenTwoCharacters) {
    const std::string fitting(300, 'a');
    EXPECT_EQ(Line(fitting).str(), fitting);
    EXPECT_EQ(Line(fitting + "b").str(), fitting);
    EXPECT_EQ(Line(std::string(299, 'a') + "\u00E4").str(), std::string(299, 'a'));
    EXPECT_EQ(Line(std::string(298, 'a') + "\u00E4!").str(), std::string(298, 'a') + "\u00E4");
    EXPECT_EQ(Line(std::string(297, 'a') + "\U0001F600").str(), std::string(297, 'a'));
    EXPECT_EQ(Line(std::string(296, 'a') + "\U0001F600!").str().size(), 300u);
}

}  // namespace
}  // namespace svc::mail
