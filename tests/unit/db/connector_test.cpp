#include "db/connector.hpp"

#include "db/errors.hpp"
#include "tests/unit/db/fixture.hpp"

#include <fstream>

namespace svc::db {
namespace {

Settings at(std::string url) {
    Settings settings;
    settings.url = std::move(url);
    return settings;
}

std::string text_for(std::string url) { return Connector(at(std::move(url)), Use::work).text(); }

using testing::HasSubstr;

TEST(ConnectorTest, AUrlBecomesKeywords) {
    const auto text = text_for("postgresql://me:s%3Dcr%27t@example.org:5433/board?sslmode=require");
    EXPECT_THAT(text, HasSubstr("user='me'"));
    EXPECT_THAT(text, HasSubstr("password='s=cr\\'t'"));
    EXPECT_THAT(text, HasSubstr("host='example.org'"));
    EXPECT_THAT(text, HasSubstr("port='5433'"));
    EXPECT_THAT(text, HasSubstr("dbname='board'"));
    EXPECT_THAT(text, HasSubstr("sslmode='require'"));
}

TEST(ConnectorTest, KeywordsAreTakenAsTheyAre) {
    const auto text = text_for("host=/run/x dbname = 'board' connect_timeout=9");
    EXPECT_THAT(text, HasSubstr("host='/run/x'"));
    EXPECT_THAT(text, HasSubstr("dbname='board'"));
    EXPECT_THAT(text, HasSubstr("connect_timeout='9'")) << "what the URL says stands";
    EXPECT_THAT(text, HasSubstr("tcp_user_timeout='10000'"));
}

TEST(ConnectorTest, OptionsOfTheUrlComeBeforeOurs) {
    const auto text = text_for("postgresql:///x?options=-c%20search_path%3Dapp%20-cwork_mem%3D1MB");
    // The later word stands: the URL may choose how plans are made, but not what sessions rest on.
    EXPECT_THAT(
        text,
        HasSubstr("options='-c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
                  " -c enable_bitmapscan=off -c search_path=app -cwork_mem=1MB -c TimeZone=UTC ")
    );
}

TEST(ConnectorTest, WhatCannotBeUsedIsNamed) {
    EXPECT_THAT(
        message_of<std::runtime_error>([] { text_for("postgresql://[::1/x"); }),
        testing::StartsWith("database.url: ")
    );
    EXPECT_THAT(
        message_of<std::runtime_error>([] { text_for("postgresql:///x?colour=red"); }),
        HasSubstr("a parameter behind the ? is none that libpq knows")
    );
}

TEST(ConnectorTest, WhatCannotBeUsedIsNotQuoted) {
    for (const char* url :
         {"postgresql://me:100%geheim@db/board",
          "postgresql://db/board?geheim",
          "postgresql://db/board?geheim=1",
          "postgresql://me:so/geheim@db/board",
          "postgresql://me:so@geheim@db/board",
          "postgresql://me:x@[::1geheim/board",
          "host=db password=so geheim",
          "host=db password='geheim",
          "geheim"}) {
        const auto why = message_of<std::runtime_error>([&] { text_for(url); });
        EXPECT_THAT(why, testing::StartsWith("database.url: ")) << url;
        EXPECT_THAT(why, testing::Not(HasSubstr("geheim"))) << url;
    }
    EXPECT_THAT(text_for("postgresql:///x?host=%2Frun%2Fa@b"), HasSubstr("host='/run/a@b'"));
    EXPECT_THAT(text_for("host=one,two port=1,2"), HasSubstr("port='1,2'"));
}

TEST(ConnectorTest, WhoDoesNotAnswerIsSaidWithTheReason) {
    Database database(at("postgresql://workboard@/x?host=/nowhere"));
    EXPECT_THAT(
        message_of<std::runtime_error>([&] { database.open(); }),
        testing::AllOf(testing::StartsWith("database.url: cannot connect: "), HasSubstr("/nowhere"))
    );
    EXPECT_FALSE(database.reachable());
}

class SessionTest : public SharedDatabaseTest {
protected:
    std::string setting(std::string name, Database* of = nullptr) {
        constexpr Sql show{"test.show", "SELECT current_setting($1) AS word"};
        std::string value;
        (of ? of : database.get())->transact(Tx::Mode::read, [&](Tx& tx) {
            value = tx.one<Word>(show, name)->word.value();
        });
        return value;
    }
};

TEST_F(SessionTest, EverySessionIsSetUpAlike) {
    EXPECT_EQ("UTC", setting("TimeZone"));
    EXPECT_EQ("ISO, MDY", setting("DateStyle"));
    EXPECT_EQ("5s", setting("statement_timeout"));
    EXPECT_EQ("30s", setting("idle_in_transaction_session_timeout"));
    EXPECT_EQ("force_generic_plan", setting("plan_cache_mode"));
    EXPECT_EQ("workboard", setting("application_name"));
    EXPECT_EQ("warning", setting("client_min_messages"));
    EXPECT_EQ("UTF8", setting("client_encoding"));
    EXPECT_EQ("off", setting("jit"));
}

TEST_F(SessionTest, TheSettingsHoldAfterAConnectionWasMadeAnew) {
    postgres.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'workboard'"
        " AND datname = current_database()",
        url
    );
    EXPECT_EQ("force_generic_plan", setting("plan_cache_mode"));
    EXPECT_EQ("5s", setting("statement_timeout"));
}

TEST_F(SessionTest, SynchronousCommitIsTurnedOffOnlyWhenAsked) {
    postgres.run(
        "ALTER DATABASE " + url.substr(url.find("@/") + 2, url.find('?') - url.find("@/") - 2) +
        " SET synchronous_commit = local"
    );
    Settings settings = at(url);
    Database as_set(settings);
    EXPECT_EQ("local", setting("synchronous_commit", &as_set));
    settings.synchronous_commit = false;
    Database off(settings);
    EXPECT_EQ("off", setting("synchronous_commit", &off));
}

TEST_F(SessionTest, APrivilegedRoleIsRefused) {
    postgres.run("DROP ROLE IF EXISTS above_all; CREATE ROLE above_all LOGIN BYPASSRLS");
    std::string above = url;
    above.replace(above.find("workboard@"), 9, "above_all");
    for (const std::string& privileged : {postgres.superuser_url(url), above}) {
        Database refused(at(privileged));
        EXPECT_THAT(
            message_of<std::runtime_error>([&] { refused.open(); }),
            HasSubstr("above row-level security")
        );
    }
    postgres.run("DROP ROLE above_all");
}

TEST(PasswordTest, ConnectsWithPasswordsOfAnySort) {
    test::Postgres own;
    const std::string url = own.fresh_database();
    const std::string rules = own.run("SHOW hba_file");
    std::ofstream(rules) << "local all postgres trust\nlocal all all scram-sha-256\n";
    own.run("SELECT pg_reload_conf()");
    const std::pair<const char*, const char*> passwords[] = {
        {"plain", "plain"},
        {"it''s \\ a: \"long\" one", "it%27s%20%5C%20a%3A%20%22long%22%20one"},
        {"tab\\'':", "tab%5C%27%3A"},
    };
    for (const auto& [sql, encoded] : passwords) {
        own.run(std::string("ALTER ROLE workboard PASSWORD '") + sql + "'");
        std::string with_password = url;
        with_password.insert(with_password.find('@'), std::string(":") + encoded);
        Database database(at(with_password));
        EXPECT_NO_THROW(database.open()) << sql;
        EXPECT_TRUE(database.reachable());
    }
    Database wrong(at(url));
    EXPECT_THAT(
        message_of<std::runtime_error>([&] { wrong.open(); }), HasSubstr("no password supplied")
    );
}

}  // namespace
}  // namespace svc::db
