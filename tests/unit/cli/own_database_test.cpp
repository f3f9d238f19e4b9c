#include "tests/support/eventually.hpp"
#include "tests/unit/cli/commands.hpp"

#include <unistd.h>

/// Commands and the server's own PostgreSQL: who makes it, and whose it is.
namespace svc::test {

TEST(OwnDatabase, IsMadeByTheServerAndNotByCommandsThatChangeSomething) {
    const TempFolder folder("workboard-own");
    const auto var = folder.path() / "var";
    const std::vector<std::vector<std::string>> commands{
        {"user", "add", "ada@example.com"},
        {"org", "list"},
        {"jobs", "retry", "mail.send"},
        {"key", "rotate"},
        {"key", "accept"}};
    for (const auto& words : commands) {
        const auto said = workboard(words, var, "");
        EXPECT_EQ(said.code, 1) << words[0];
        EXPECT_THAT(said.text, HasSubstr("there is no database in ")) << words[0];
        EXPECT_THAT(said.text, HasSubstr("`workboard serve` makes it")) << words[0];
        EXPECT_FALSE(fs::exists(var)) << words[0];
    }
}

TEST(OwnDatabase, IsNotMadeWhereAnotherUsersServerHasItsKey) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    const TempFolder folder("workboard-own");
    fs::permissions(folder.path(), fs::perms(0755));
    const auto key = folder.path() / "server.key";
    write_file(key, std::string(32, 'k'));
    ASSERT_EQ(::chown(key.c_str(), 12345, 12345), 0);
    const auto said = workboard({"migrate"}, folder.path(), "");
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(
        said.text, HasSubstr("server.key belongs to the user 12345; run this as that user")
    );
    EXPECT_FALSE(fs::exists(folder.path() / "postgres"));
}

TEST(OwnDatabase, OfAnotherUserIsNamedByDoctor) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    const TempFolder folder("workboard-own");
    const auto data = folder.path() / "postgres/data";
    fs::create_directories(data);
    for (const auto& each : {data, data.parent_path(), folder.path()})
        ASSERT_EQ(::chown(each.c_str(), 12345, 12345), 0);
    fs::permissions(folder.path(), fs::perms::owner_all);
    const auto said = workboard({"doctor"}, folder.path(), "");
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.text, HasSubstr("postgres belongs to the user 12345; run this as that user"));
}

TEST(OwnDatabase, ThatEndsIsSaidAtWarning) {
    const Server server({.settings = {"log.level=warning"}});
    const auto pid_file = server.var() / "postgres/data/postmaster.pid";
    if (!fs::exists(pid_file)) GTEST_SKIP() << "it is kept elsewhere";
    ::kill(std::stoi(read_file(pid_file)), SIGKILL);
    EXPECT_TRUE(eventually([&] {
        return server.output().find("PostgreSQL has ended; starting it again") != std::string::npos;
    })) << server.output();
    // It writes each of its files to the disk before it is ready, which a busy one takes time over.
    EXPECT_TRUE(eventually(
        [&] { return server.client().get("/readyz").status == 200; }, std::chrono::minutes(2)
    )) << server.output();
}

}  // namespace svc::test
