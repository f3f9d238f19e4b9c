#include "core/backup_lock.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/cli/commands.hpp"

/// What `workboard backup` saves, `workboard restore` brings back.
namespace svc::test {

namespace {

/// A workspace with a card, a file on it, a comment and an agent's token.
class Filled {
public:
    explicit Filled(const Server& server) : space_(make_workspace(server)) {
        Client& me = space_.client;
        board_ = expect(201, me.post("/v1/boards", json::value{{"name", "Desk"}})).text("/id");
        const auto column =
            expect(200, me.get("/v1/boards/" + board_ + "/columns")).text("/results/0/id");
        const json::value card{{"column_id", column}, {"title", "It's a \\ \"card\" of ours\\n"}};
        card_ = expect(201, me.post("/v1/boards/" + board_ + "/cards", card)).text("/id");
        const auto comment = R"({"parent":{"card_id":")" + card_ +
                             R"("},"rich_text":[{"text":{"content":"CommandOutcome once"}}]})";
        const auto made = me.post("/v1/comments", comment);
        EXPECT_EQ(made.status / 100, 2) << made.body;
        add_file(server);
        token_ = space_.mint("agent", "Robot");
    }

    void expect_all_there(const Server& server) const {
        Client agent = server.client();
        agent.token(token_);
        const auto card = expect(200, agent.get("/v1/cards/" + card_));
        EXPECT_EQ(card.text("/title"), title_);
        const auto comments = expect(200, agent.get("/v1/comments?card_id=" + card_));
        EXPECT_THAT(comments.body, HasSubstr("CommandOutcome once"));
        const auto files = expect(200, agent.get("/v1/cards/" + card_ + "/attachments"));
        const auto url = files.text("/results/0/url");
        EXPECT_EQ(server.client().get(url.substr(url.find('/', 9))).body, bytes);
    }
    /// The session that the server's key vouches for; on the same port.
    void expect_signed_in() const {
        Client browser = space_.client;
        EXPECT_EQ(browser.get("/v1/me").status, 200);
    }
    static inline const std::string bytes =
        std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16) + std::string(300'000, 'x');

private:
    void add_file(const Server& server) {
        Client& me = space_.client;
        const json::value what{{"filename", "a.png"}, {"content_type", "image/png"}};
        const auto announced = expect(201, me.post("/v1/files:presign", what)).json();
        const std::string boundary = "----TestBoundary42";
        std::string form;
        const auto part = [&](std::string_view rest) {
            form += "--" + boundary + "\r\nContent-Disposition: form-data; " + std::string(rest);
        };
        for (const auto& [name, value] : announced.at("upload_url_fields").as_object())
            part(
                "name=\"" + std::string(name) + "\"\r\n\r\n" + std::string(value.as_string()) +
                "\r\n"
            );
        part("name=\"file\"; filename=\"x\"\r\nContent-Type: image/png\r\n\r\n" + bytes + "\r\n");
        form += "--" + boundary + "--\r\n";
        const std::string url(announced.at("upload_url").as_string());
        expect(
            204,
            server.client().post(
                url.substr(url.find('/', 9)),
                form,
                {{"Content-Type", "multipart/form-data; boundary=" + boundary}}
            )
        );
        const std::string id(announced.at("id").as_string());
        expect(200, me.post("/v1/files/" + id + ":commit"));
        const auto attached =
            me.post("/v1/cards/" + card_ + "/attachments", json::value{{"file_id", id}});
        EXPECT_EQ(attached.status / 100, 2) << attached.body;
    }

    Workspace space_;
    std::string board_, card_, token_;
    const std::string title_ = "It's a \\ \"card\" of ours\\n";
};

mode_t mode_of(const fs::path& file) {
    struct stat about {};
    return ::stat(file.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
}

}  // namespace

TEST(Backup, OfAServerWithItsOwnDatabaseBringsEverythingBackFromNothing) {
    const TempFolder folder("workboard-backup");
    const auto file = folder.path() / "saved.tar";
    const auto var = folder.path() / "var";
    std::unique_ptr<Server> server = std::make_unique<Server>(Server::Options{.var = var});
    const Filled filled(*server);
    const auto port = server->port();

    const auto saved = workboard({"backup", file.string()}, var, "");  // while it runs
    ASSERT_EQ(saved.code, 0) << saved.text;
    EXPECT_EQ(mode_of(file), 0600u);
    EXPECT_FALSE(fs::exists(file.string() + ".part"));
    const auto listed = run({"tar", "-tf", file.string()});
    EXPECT_EQ(listed.code, 0);
    for (const char* name :
         {"database/cards\n", "objects/", "manifest.json\n", "server.key\n", "config/"})
        EXPECT_THAT(listed.output, HasSubstr(name));
    // Other programs take it apart, and find the same sums.
    fs::create_directories(folder.path() / "apart");
    EXPECT_EQ(run({"tar", "-xf", file.string(), "-C", folder.path() / "apart"}).code, 0);
    EXPECT_EQ(
        run({"sha256sum", "--quiet", "-c", "SHA256SUMS"}, {}, folder.path() / "apart").code, 0
    );

    server.reset();
    fs::remove_all(var);
    const auto restored = workboard({"restore", file.string()}, var, "");
    ASSERT_EQ(restored.code, 0) << restored.text;
    const auto again = workboard({"restore", file.string()}, var, "");
    EXPECT_EQ(again.code, 1);
    EXPECT_THAT(again.text, HasSubstr("the database is not empty"));

    server = std::make_unique<Server>(Server::Options{
        .var = var, .settings = {"server.port=" + std::to_string(port)}});
    filled.expect_all_there(*server);
    filled.expect_signed_in();
    EXPECT_EQ(workboard({"audit", "verify"}, var, "").code, 0);
    const auto doctor = workboard({"doctor"}, var, "");
    EXPECT_EQ(doctor.code, 0) << doctor.text;
}

class BackupOfOnes : public testing::Test {
protected:
    BackupOfOnes() : url(Postgres::shared().fresh_database()) {
        server = std::make_unique<Server>(Server::Options{
            .var = folder.path() / "var", .database_url = url, .settings = {secret}});
    }
    CommandOutcome backup(std::vector<std::string> more = {}) {
        std::vector<std::string> words{"backup", file.string(), "--set", secret};
        words.insert(words.end(), more.begin(), more.end());
        return workboard(words, folder.path() / "var", url);
    }
    CommandOutcome restore(const std::string& to, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"restore", file.string()};
        words.insert(words.end(), more.begin(), more.end());
        return workboard(words, folder.path() / "other", to);
    }
    static std::string sql(const std::string& text, const std::string& where) {
        return Postgres::shared().run(text, where);
    }

    const std::string secret = "server.secret=a key that stands in the settings, here";
    TempFolder folder{"workboard-backup"};
    fs::path file = folder.path() / "saved.tar";
    std::string url;
    std::unique_ptr<Server> server;
};

TEST_F(BackupOfOnes, OwnPostgresHoldsEveryRowOfEveryTable) {
    const Filled filled(*server);
    server->end(SIGTERM);
    const auto rows = tables_of(url);  // as the superuser sees them
    const auto saved = backup();
    ASSERT_EQ(saved.code, 0) << saved.text;

    const auto to = Postgres::shared().empty_database();
    const auto restored = restore(to);
    ASSERT_EQ(restored.code, 0) << restored.text;
    EXPECT_EQ(tables_of(to), rows);
    EXPECT_EQ(
        sql("SELECT count(*) FROM pg_class WHERE relrowsecurity AND relforcerowsecurity", to),
        sql("SELECT count(*) FROM pg_class WHERE relrowsecurity AND relforcerowsecurity", url)
    );
    const auto keys =
        "SELECT string_agg(conname || pg_get_constraintdef(oid), ' ' ORDER BY"
        " conrelid::regclass::text, conname) FROM pg_constraint WHERE contype = 'f'";
    EXPECT_EQ(sql(keys, to), sql(keys, url));
    // The key came along, into the file that is read when the settings name none.
    const auto key = folder.path() / "other/server.key";
    EXPECT_EQ(mode_of(key), 0600u);
    EXPECT_EQ("server.secret=" + read_file(key), secret);
    Server second({
        .var = folder.path() / "other",
        .database_url = to,
        .settings = {"server.secret=file:" + key.string()},
    });
    filled.expect_all_there(second);
}

TEST_F(BackupOfOnes, AnArchiveThatWasTouchedIsRefusedBeforeAnythingElseIs) {
    make_workspace(*server);
    ASSERT_EQ(backup().code, 0);
    const auto whole = read_file(file);
    const auto to = Postgres::shared().empty_database();
    const auto refused = [&](const std::string& bytes, const std::string& why) {
        write_file(file, bytes);
        const auto said = restore(to);
        EXPECT_EQ(said.code, 1) << why;
        EXPECT_EQ(tables_of(to), "") << why;
        EXPECT_FALSE(fs::exists(folder.path() / "other")) << why;
    };
    refused(whole.substr(0, whole.size() / 2), "half of it");
    refused(whole.substr(0, whole.size() - 4096), "its end is gone");
    refused("", "nothing");
    auto changed = whole;
    changed[whole.find("ada@example.com")] = 'b';
    refused(changed, "a byte of a row");
}

TEST_F(BackupOfOnes, HoldsTheSettingsUnderTheirNamesWhereverTheyWereRead) {
    const auto settings = folder.path() / "settings";
    fs::create_directories(settings / "conf.d");
    write_file(settings / "workboard.toml", "");
    write_file(settings / "conf.d/own.toml", "[log]\nlevel = \"error\"\n");
    for (const auto& config : {fs::path("workboard.toml"), settings / "workboard.toml"}) {
        const auto saved =
            run({in_build("bin/workboard"),
                 "backup",
                 file,
                 "--config",
                 config,
                 "--var",
                 folder.path() / "var",
                 "--database-url",
                 url,
                 "--set",
                 secret},
                {},
                settings);
        ASSERT_EQ(saved.code, 0) << saved.output;
        const auto listed = run({"tar", "-tf", file}).output;
        for (const char* name :
             {"config/workboard.toml\n", "config/conf.d/own.toml\n", "config/in-force.toml\n"})
            EXPECT_THAT(listed, HasSubstr(name)) << config;
    }
}

TEST_F(BackupOfOnes, ATableWhoseRowsItCannotSeeMakesItFail) {
    make_workspace(*server);
    sql("CREATE TABLE hidden (org_id uuid PRIMARY KEY);"
        "INSERT INTO hidden VALUES (gen_random_uuid());"
        "ALTER TABLE hidden OWNER TO workboard;"
        "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;"
        "ALTER TABLE hidden FORCE ROW LEVEL SECURITY;"
        "CREATE POLICY by_org ON hidden USING (org_id = svc_org())",
        url);
    const auto said = backup();
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.text, HasSubstr("hidden"));
    EXPECT_FALSE(fs::exists(file));
    EXPECT_FALSE(fs::exists(file.string() + ".part"));
}

TEST_F(BackupOfOnes, AFileThatTheStoreHasLostMakesItFailUnlessThatIsAllowed) {
    const Filled filled(*server);
    for (const auto& each : fs::recursive_directory_iterator(folder.path() / "var/objects"))
        if (each.is_regular_file()) fs::remove(each.path());
    const auto said = backup();
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.text, HasSubstr("is lost"));
    EXPECT_FALSE(fs::exists(file));
    EXPECT_EQ(backup({"--allow-missing"}).code, 0);
    EXPECT_EQ(restore(Postgres::shared().empty_database()).code, 0);
}

TEST_F(BackupOfOnes, WhatIsThereIsReplacedOnlyWhenToldAndWhenNobodyUsesIt) {
    make_workspace(*server);
    ASSERT_EQ(backup().code, 0);
    const auto in_use = restore(url, {"--overwrite"});
    EXPECT_EQ(in_use.code, 1);
    EXPECT_THAT(in_use.text, HasSubstr("other sessions"));
    make_workspace(*server, "late@example.com", "Late");
    server->end(SIGTERM);
    const auto rows = tables_of(url);
    EXPECT_EQ(restore(url).code, 1);
    EXPECT_EQ(tables_of(url), rows);
    const auto said = restore(url, {"--overwrite"});
    ASSERT_EQ(said.code, 0) << said.text;
    EXPECT_EQ(sql("SELECT count(*) FROM orgs", url), "1");
}

TEST_F(BackupOfOnes, TheKeyInItIsTheOneThatCounts) {
    const auto other = workboard(
        {"backup", file.string(), "--set", "server.secret=some key that is not of this database"},
        folder.path() / "var",
        url
    );
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.text, HasSubstr("is not the key that this database's servers use"));
    ASSERT_EQ(backup().code, 0);
    const auto said = restore(
        Postgres::shared().empty_database(),
        {"--set", "server.secret=some key that is not of this database"}
    );
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.text, HasSubstr("server.secret is not the key of the backup"));
}

// A commit that fails, for a reason that is not in the archive.
TEST_F(BackupOfOnes, TheOldKeyStaysWhereTheOldDatabaseDoes) {
    ASSERT_EQ(backup().code, 0);
    const auto to = Postgres::shared().fresh_database();
    const auto key = folder.path() / "other/server.key";
    fs::create_directories(key.parent_path());
    const std::string old(32, 'k');
    write_file(key, old);
    sql("CREATE SCHEMA trap; CREATE TABLE trap.fired (at timestamptz);"
        "CREATE FUNCTION trap.refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'no commit today'; END $$;"
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON trap.fired DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION trap.refuse();"
        "CREATE FUNCTION trap.fire() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS"
        " $$ BEGIN INSERT INTO trap.fired VALUES (now()); END $$;"
        "CREATE EVENT TRIGGER trap ON ddl_command_end WHEN TAG IN ('CREATE TABLE')"
        " EXECUTE FUNCTION trap.fire()",
        to);
    const auto rows = tables_of(to);
    const auto failed = restore(to, {"--overwrite"});
    EXPECT_EQ(failed.code, 1);
    EXPECT_THAT(failed.text, HasSubstr("no commit today"));
    EXPECT_EQ(tables_of(to), rows);
    EXPECT_EQ(read_file(key), old);
    sql("DROP EVENT TRIGGER trap", to);
    const auto restored = restore(to, {"--overwrite"});
    ASSERT_EQ(restored.code, 0) << restored.text;
    EXPECT_EQ("server.secret=" + read_file(key), secret);
    EXPECT_EQ(std::distance(fs::directory_iterator(key.parent_path()), {}), 1) << "no part of it";
}

TEST_F(BackupOfOnes, AnotherIntoTheSameFileIsRefusedAndOneThatIsEndedLeavesNothing) {
    // It begins when nobody removes bytes, which this session says it does.
    const std::string lock = std::to_string(core::backup_lock);
    sql("SELECT pg_advisory_lock_shared(" + lock + ")", url);
    const fs::path part = file.string() + ".part";
    write_file(part, "of a backup that was killed");
    Program first(Program::Start{
        .command =
            {in_build("bin/workboard"),
             "backup",
             file,
             "--set",
             secret,
             "--var",
             folder.path() / "var",
             "--database-url",
             url},
        .environment = {},
        .folder = source_folder(),
        .output = folder.path() / "said"});
    ASSERT_TRUE(eventually([&] { return fs::exists(part) && fs::file_size(part) == 0; }));
    const auto second = backup();
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.text, HasSubstr("another backup is writing it"));
    EXPECT_TRUE(fs::exists(part));
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(std::chrono::seconds(10)), 128 + SIGTERM);
    EXPECT_FALSE(fs::exists(part));
    sql("SELECT pg_advisory_unlock_shared(" + lock + ")", url);
    EXPECT_EQ(backup().code, 0);
}

}  // namespace svc::test
