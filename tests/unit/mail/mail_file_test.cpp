#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/server.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace svc::test {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;
using testing::Not;

/// Lets the programs it starts make files that everybody may read.
class OpenUmask {
public:
    OpenUmask() : before_(::umask(0)) {}
    ~OpenUmask() { ::umask(before_); }

private:
    mode_t before_;
};

/// Signs somebody up; the mail that this sends.
std::string mail_of(const Server& server) {
    const boost::json::value person{
        {"email", "ada@example.com"}, {"password", "correct horse battery"}};
    expect(201, server.client().post("/v1/auth/signup", person));
    return server.mail_to("ada@example.com");
}

/// What the server has said once it has said this, which it does after the mail is there.
std::string output_with(const Server& server, const std::string& words) {
    EXPECT_TRUE(eventually([&] { return server.output().find(words) != std::string::npos; }))
        << server.output();
    return server.output();
}

TEST(MailFile, WritesMailsForItsOwnerAlone) {
    const OpenUmask open;
    const Server server({.database_url = Postgres::shared().fresh_database()});
    mail_of(server);
    const auto folder = server.var() / "mail";
    EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
    int files = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        EXPECT_EQ(each.status().permissions(), perms::owner_read | perms::owner_write);
        EXPECT_EQ(each.path().extension(), ".eml");
        ++files;
    }
    EXPECT_EQ(files, 1);
}

TEST(MailFile, KeepsLinksOutOfTheLogUnlessToldToLogThem) {
    const Server server({.database_url = Postgres::shared().fresh_database()});
    const auto token = mail_value(mail_of(server), "token=");
    const auto said = output_with(server, "verify_email to ada@example.com: ");
    EXPECT_THAT(said, HasSubstr(".eml"));
    EXPECT_THAT(said, Not(HasSubstr(token)));

    const Server open(
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {"mail-file.log_links=true"}}
    );
    const auto other = mail_value(mail_of(open), "token=");
    EXPECT_THAT(output_with(open, "verify_email to ada@example.com: http"), HasSubstr(other));
}

}  // namespace
}  // namespace svc::test
