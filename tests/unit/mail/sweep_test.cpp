#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

/// What becomes of mails that have long been sent.
namespace svc::test {
namespace {

class MailSweep : public testing::Test {
protected:
    /// A mail of so many days ago, known by what it says.
    void leave_mail(const Uuid& org, const std::string& status, int days) {
        in_process().run(
            "INSERT INTO mail_outbox (org_id, id, template, recipient, subject, text_body, "
            "html_body, status, created_time) VALUES ('" +
            org.str() + "', '" + new_uuid().str() + "', 'org_invitation', 'bob@example.com', '" +
            status + " " + std::to_string(days) + "', 'text', 'html', '" + status +
            "', now() - interval '" + std::to_string(days) + " days')"
        );
    }
    std::string left(const Uuid& org) {
        return in_process().run(
            "SELECT string_agg(subject, ', ' ORDER BY subject) FROM mail_outbox WHERE org_id = '" +
            org.str() + "'"
        );
    }
};

// What has yet to go out is kept however old it is: nobody has sent it, and nobody has given up.
TEST_F(MailSweep, TakesWhatWasSentOrGivenUpOnLongAgo) {
    const Uuid one = new_uuid(), other = new_uuid(), of_accounts{};
    for (const Uuid& org : {one, other, of_accounts})
        for (const char* status : {"queued", "sending", "sent", "failed"})
            for (const int days : {1, 89, 91, 400}) leave_mail(org, status, days);
    in_process().run_job("mail.sweep");
    for (const Uuid& org : {one, other, of_accounts})
        EXPECT_EQ(
            left(org),
            "failed 1, failed 89, queued 1, queued 400, queued 89, queued 91, sending 1, "
            "sending 400, sending 89, sending 91, sent 1, sent 89"
        );
}

}  // namespace
}  // namespace svc::test
