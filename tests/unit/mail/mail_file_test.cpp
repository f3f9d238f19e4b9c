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

TEST(MailFile, WritesMailsForItsOwnerAlone) {
    const OpenUmask open;
    const Server server({.database_url = Postgres::shared().fresh_database()});
    const auto token = mail_value(mail_of(server), "token=");
    const auto folder = server.var() / "mail";
    EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
    int files = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder)) {
        EXPECT_EQ(each.status().permissions(), perms::owner_read | perms::owner_write);
        EXPECT_EQ(each.path().extension(), ".eml");
        ++files;
    }
    EXPECT_EQ(files, 1);
    EXPECT_THAT(server.output(), HasSubstr("verify_email to ada@example.com: http"));
    EXPECT_THAT(server.output(), HasSubstr(token));
}

TEST(MailFile, KeepsLinksOutOfTheLogWhenToldTo) {
    const Server server(
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {"mail-file.log_links=false"}}
    );
    const auto token = mail_value(mail_of(server), "token=");
    const auto told = [&] { return server.output().find("verify_email to ") != std::string::npos; };
    for (int i = 0; i < 100 && !told(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(told());
    EXPECT_THAT(server.output(), Not(HasSubstr(token)));
}

}  // namespace
}  // namespace svc::test
