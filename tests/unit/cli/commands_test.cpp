#include "tests/unit/cli/commands.hpp"
#include "tests/support/certificate.hpp"

/// Commands that look: they say what there is and change nothing.
namespace svc::test {

namespace {

std::string no_secret() { return "server.secret=the key of all servers of this database"; }

}  // namespace

TEST(Commands, ThoseThatLookLeaveNothingInAnEmptyFolder) {
    const TempFolder folder("workboard-look");
    const auto var = folder.path() / "var";
    for (const char* name : {"config", "check-config", "modules", "openapi", "doctor"}) {
        const auto said = workboard({name}, var, "");
        EXPECT_EQ(said.code, 0) << name << ": " << said.text.substr(0, 500);
        EXPECT_FALSE(fs::exists(var)) << name;
    }
}

TEST(Commands, ThoseOfModulesThatOnlyLookMakeNothingEither) {
    const TempFolder folder("workboard-look");
    const auto var = folder.path() / "var";
    const auto url = Postgres::shared().empty_database();
    for (const char* name : {"check-scripts", "event-kinds"}) {
        for (const auto& database : {std::string(), url}) {
            const auto said = workboard({name}, var, database);
            EXPECT_EQ(said.code, 0) << name << ": " << said.text.substr(0, 500);
            EXPECT_FALSE(fs::exists(var)) << name;
        }
        EXPECT_EQ(tables_of(url), "") << name;
    }
    for (const char* name : {"user", "org"}) {
        const auto said = workboard({name, "list"}, var, url);
        EXPECT_EQ(said.code, 1) << name << ": " << said.text;
        EXPECT_THAT(said.text, HasSubstr(" migrations are pending")) << name;
        EXPECT_FALSE(fs::exists(var)) << name;
        EXPECT_EQ(tables_of(url), "") << name;
    }
    const auto added = workboard({"user", "add", "ada@example.com"}, var, url);
    EXPECT_EQ(added.code, 0) << added.text << "one that changes something makes the schema";
    EXPECT_THAT(tables_of(url), HasSubstr("kernel_migrations="));
    EXPECT_TRUE(fs::exists(var / "server.key"));
    EXPECT_THAT(workboard({"user", "list"}, var, url).text, HasSubstr("ada@example.com"));
}

TEST(Commands, ThoseThatChangeSomethingMigrateNothing) {
    const TempFolder folder("workboard-change");
    const auto url = Postgres::shared().fresh_database();
    Postgres::shared().run(
        "DELETE FROM kernel_migrations WHERE module = 'boards' AND number ="
        " (SELECT max(number) FROM kernel_migrations WHERE module = 'boards')",
        url
    );
    const auto rows = tables_of(url);
    const std::vector<std::vector<std::string>> commands{
        {"user", "add", "ada@example.com"},
        {"org", "nonsense"},
        {"key", "rotate"},
        {"key", "accept"}};
    for (const auto& words : commands) {
        const auto said = workboard(words, folder.path() / "var", url);
        EXPECT_EQ(said.code, 1) << words[0] << said.text;
        EXPECT_THAT(said.text, HasSubstr("1 migrations are pending; `workboard migrate`"));
    }
    EXPECT_EQ(tables_of(url), rows);
    EXPECT_FALSE(fs::exists(folder.path() / "var"));
}

TEST(Commands, ThoseThatLookLeaveAnEmptyDatabaseEmpty) {
    const TempFolder folder("workboard-look");
    const auto url = Postgres::shared().empty_database();
    const auto doctor = workboard({"doctor"}, folder.path() / "var", url);
    EXPECT_EQ(doctor.code, 0) << doctor.text;
    EXPECT_THAT(doctor.text, HasSubstr(" migrations are pending"));
    EXPECT_THAT(doctor.text, HasSubstr("LEAKPROOF"));
    workboard({"audit", "verify"}, folder.path() / "var", url);
    EXPECT_EQ(tables_of(url), "");
    EXPECT_FALSE(fs::exists(folder.path() / "var"));
}

TEST(Commands, DoctorChangesNothingOfAServerThatRuns) {
    const auto url = Postgres::shared().fresh_database();
    Server server({.database_url = url});
    make_workspace(server);
    server.end(SIGTERM);
    const auto files = tree_of(server.var());
    const auto rows = tables_of(url);
    const auto said = workboard({"doctor", "--set", no_secret()}, server.var(), url);
    EXPECT_EQ(said.code, 0) << said.text;
    EXPECT_THAT(said.text, HasSubstr("the schema is up to date"));
    EXPECT_THAT(said.text, HasSubstr("0 faults"));
    EXPECT_EQ(workboard({"audit", "verify"}, server.var(), url).code, 0);
    EXPECT_EQ(tree_of(server.var()), files);
    EXPECT_EQ(tables_of(url), rows);

    const auto other = workboard(
        {"doctor", "--set", "server.secret=another key, of thirty-two characters"},
        server.var(),
        url
    );
    EXPECT_EQ(other.code, 1) << other.text;
    EXPECT_THAT(other.text, HasSubstr("FAULT    key"));
}

// Below a folder that the user who runs PostgreSQL cannot enter, the data is kept elsewhere.
TEST(Commands, FindTheServersOwnDatabaseWhereverItIsKept) {
    const TempFolder folder("workboard-own");
    fs::permissions(folder.path(), fs::perms::owner_all);
    const auto var = folder.path() / "var";
    EXPECT_THAT(workboard({"doctor"}, var, "").text, HasSubstr("none yet; `serve` makes its own"));
    Server server({.var = var});
    make_workspace(server);
    const auto doctor = workboard({"doctor"}, var, "");
    EXPECT_EQ(doctor.code, 0) << doctor.text;
    EXPECT_THAT(doctor.text, HasSubstr("the server's own answers"));
    const auto saved = workboard({"backup", (folder.path() / "saved.tar").string()}, var, "");
    EXPECT_EQ(saved.code, 0) << saved.text;
    server.end(SIGTERM);
    const auto& said = server.output();
    const auto at = said.find("/var/lib/workboard-");
    if (at != said.npos) fs::remove_all(said.substr(at, said.find_first_of("\" \n", at) - at));
}

TEST(Commands, DoctorNamesWhatDoesNotAnswer) {
    const TempFolder folder("workboard-look");
    const auto var = folder.path();
    const auto port = std::to_string(free_port());
    const auto said = workboard(
        {"doctor",
         "--set",
         "mail-smtp.host=127.0.0.1",
         "--set",
         "mail-smtp.port=" + port,
         "--set",
         "mail-smtp.security=none",
         "--set",
         "store-s3.bucket=files",
         "--set",
         "store-s3.endpoint=http://127.0.0.1:" + port,
         "--set",
         "store-s3.access_key=a",
         "--set",
         "store-s3.secret_key=b",
         "--address",
         "0.0.0.0"},
        var,
        "postgresql://nobody@127.0.0.1:" + port + "/none"
    );
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.text, HasSubstr("FAULT    database"));
    EXPECT_THAT(said.text, HasSubstr("FAULT    mail"));
    EXPECT_THAT(said.text, HasSubstr("FAULT    store"));
    EXPECT_THAT(said.text, HasSubstr("warning  address"));
}

TEST(Commands, ACertificateThatCannotBeUsedIsNamedWithItsSetting) {
    const http::test::Certificate files, others;
    const TempFolder folder("workboard-look");
    const auto with = [&](std::string certificate, std::string key) {
        return workboard(
            {"check-config",
             "--set",
             "server.certificate=" + certificate,
             "--set",
             "server.key=" + key},
            folder.path(),
            ""
        );
    };
    EXPECT_EQ(with(files.certificate(), files.key()).code, 0);
    const auto alone = with(files.certificate(), "");
    EXPECT_EQ(alone.code, 1);
    EXPECT_THAT(alone.text, HasSubstr("server.key is empty; server.certificate needs it"));
    EXPECT_THAT(
        with("", files.key()).text, HasSubstr("server.certificate is empty; server.key needs it")
    );
    EXPECT_THAT(
        with("/nowhere/c.pem", files.key()).text,
        HasSubstr("server.certificate: cannot read /nowhere/c.pem: No such file")
    );
    const auto strange = with(files.certificate(), others.key());
    EXPECT_THAT(strange.text, HasSubstr("server.key: "));
    EXPECT_THAT(strange.text, HasSubstr(others.key().string()));
    const auto doctor = workboard(
        {"doctor",
         "--set",
         "server.certificate=" + files.certificate().string(),
         "--set",
         "server.key=" + files.key().string()},
        folder.path(),
        ""
    );
    EXPECT_THAT(doctor.text, HasSubstr("warning  certificate"));  // it is good for an hour
    EXPECT_EQ(doctor.code, 0);
}

TEST(Commands, WhatSettingsNameIsLookedAtBeforeADatabaseIsMade) {
    const TempFolder folder("workboard-look");
    const auto var = folder.path() / "var";
    const auto junk = (folder.path() / "junk.pem").string();
    write_file(junk, "junk");
    const std::string nowhere = (folder.path() / "none/here").string();
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"log.access=" + nowhere, "log.access: cannot write " + nowhere + ": No such file"},
        {"log.access=" + folder.path().string(), "log.access: cannot write "},
        {"server.address=nonsense", "server.address: cannot listen on nonsense: "},
        {"server.address=192.0.2.1", "server.address: cannot listen on 192.0.2.1: "},
        {"database.url=nonsense", "database.url: "},
        {"webhooks.ca_file=" + nowhere,
         "workboard: webhooks.ca_file: cannot read authorities from " + nowhere + ": No such file"},
        {"oauth.ca_file=" + junk, "oauth.ca_file: cannot read authorities from " + junk + ": "},
    };
    for (const auto& [setting, words] : wrong)
        for (const char* command : {"check-config", "serve"}) {
            const auto said = workboard({command, "--set", setting}, var, "");
            EXPECT_EQ(said.code, 1) << command << ' ' << setting;
            EXPECT_THAT(said.text, HasSubstr(words)) << command;
            EXPECT_FALSE(fs::exists(var / "postgres")) << command << ' ' << setting;
        }
    const auto look = [&](const std::string& setting, const fs::path& in) {
        return workboard({"check-config", "--set", setting}, in, "").code;
    };
    const auto log = folder.path() / "access.log";
    EXPECT_EQ(look("log.access=" + log.string(), var), 0);
    EXPECT_FALSE(fs::exists(log)) << "looking makes nothing";
    const auto fresh = folder.path() / "fresh";
    EXPECT_EQ(look("log.access=" + (fresh / "access.log").string(), fresh), 0) << "serve makes it";
    EXPECT_FALSE(fs::exists(fresh));
    fs::create_symlink("/nowhere/access.log", log);
    EXPECT_EQ(look("log.access=" + log.string(), var), 0) << "it may be made where it leads to";
    EXPECT_EQ(look("log.access=/dev/null", var), 0);
    EXPECT_EQ(workboard({"config", "--set", "webhooks.ca_file=" + nowhere}, var, "").code, 0)
        << "commands that send no webhooks go on";
}

TEST(Commands, HelpIsOfTheCommandThatIsAsked) {
    for (const char* name : {"doctor", "backup", "restore", "key", "audit", "check-scripts"}) {
        const auto said = workboard({name, "--help"}, "", "");
        EXPECT_EQ(said.code, 0) << said.text;
        EXPECT_THAT(said.text, HasSubstr(std::string("workboard ") + name));
        EXPECT_THAT(said.text, Not(HasSubstr("usage: workboard <command>")));
    }
    EXPECT_EQ(workboard({"nonsense", "--help"}, "", "").code, 1);
    const auto unfit = workboard({"doctor", "--overwrite"}, "", "");
    EXPECT_EQ(unfit.code, 2);
    EXPECT_THAT(unfit.text, HasSubstr("the command doctor takes no --overwrite"));
    EXPECT_THAT(workboard({"help"}, "", "").text, HasSubstr("--set modules=mail,orgs,auth,boards"));
}

TEST(Commands, SettingsAreReadAsTheyAreWritten) {
    const TempFolder folder("workboard-look");
    const auto check = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "check-config");
        return workboard(std::move(words), folder.path(), "");
    };
    EXPECT_THAT(check({}).text, HasSubstr("\nurl = \"\"\n"));
    EXPECT_THAT(
        check({"--set", "database.url=postgresql://a:b@c/d"}).text, HasSubstr("url = \"(secret)\"")
    );
    const auto list = R"(modules = ["mail","orgs","auth"])";
    EXPECT_THAT(check({"--set", "modules=mail,orgs,auth"}).text, HasSubstr(list));
    EXPECT_THAT(check({"--set", R"(modules=["mail", "orgs", "auth"])"}).text, HasSubstr(list));
    const auto broken = check({"--set", R"(modules=["mail")"});
    EXPECT_EQ(broken.code, 1);
    EXPECT_THAT(broken.text, HasSubstr("a list is written as a,b"));
    const auto missing = check({"--config", "nope.toml"});
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.text, HasSubstr("there is no config file nope.toml"));
}

TEST(Commands, TheVersionIsTheOneOfTheBuild) {
    EXPECT_EQ(workboard({"--version"}, "", "").text, "workboard " SVC_VERSION "\n");
}

}  // namespace svc::test
