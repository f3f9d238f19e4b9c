#include "svc/types.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/count_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/cli/commands.hpp"

#include <thread>

/// A server as its operator watches it: signals, logs, metrics, its key.
namespace svc::test {

namespace {

using namespace std::chrono_literals;

/// The serial number of the certificate that a TLS server shows, by the program of OpenSSL.
std::string fingerprint_at(std::uint16_t port) {
    return run({"sh",
                "-c",
                "openssl s_client -connect 127.0.0.1:" + std::to_string(port) +
                    " </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256"})
        .output;
}

std::string fingerprint_of(const fs::path& certificate) {
    return run({"openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", certificate}).output;
}

/// A server whose first output is its own: standard output and errors apart.
class Apart {
public:
    Apart(std::vector<std::string> words, const std::string& url) : port_(free_port()) {
        std::vector<std::string> command{
            "sh",
            "-c",
            "out=$1; err=$2; shift 2; exec \"$@\" >\"$out\" 2>\"$err\"",
            "-",
            out(),
            err(),
            (build_folder() / "bin/workboard").string(),
            "serve",
            "--var",
            folder_.path().string(),
            "--database-url",
            url,
            "--port",
            std::to_string(port_)};
        command.insert(command.end(), words.begin(), words.end());
        program_ = std::make_unique<Program>(Program::Start{
            .command = command, .environment = {}, .folder = source_folder(), .output = {}});
        if (!eventually([&] { return text(out()).find("ready on") != std::string::npos; }))
            throw std::runtime_error("the server did not start: " + text(err()));
    }
    ~Apart() {
        program_->signal(SIGTERM);
        program_->wait(20s);
    }
    std::string out() const { return (folder_.path() / "out").string(); }
    std::string err() const { return (folder_.path() / "err").string(); }
    static std::string text(const fs::path& file) {
        return fs::exists(file) ? read_file(file) : "";
    }
    std::uint16_t port() const { return port_; }
    const Program& program() const { return *program_; }

private:
    TempFolder folder_{"workboard-apart"};
    const std::uint16_t port_;
    std::unique_ptr<Program> program_;
};

}  // namespace

TEST(Running, HangUpReadsTheCertificateAgainAndKeepsItWhenTheNewOneIsOfNoUse) {
    const http::test::Certificate first, second;
    const TempFolder folder("workboard-reload");
    const auto certificate = folder.path() / "c.pem", key = folder.path() / "k.pem";
    const auto put = [&](const http::test::Certificate& from) {
        fs::copy_file(from.certificate(), certificate, fs::copy_options::overwrite_existing);
        fs::copy_file(from.key(), key, fs::copy_options::overwrite_existing);
    };
    put(first);
    const Apart server(
        {"--set",
         "server.certificate=" + certificate.string(),
         "--set",
         "server.key=" + key.string()},
        Postgres::shared().fresh_database()
    );
    EXPECT_EQ(fingerprint_at(server.port()), fingerprint_of(first.certificate()));
    put(second);
    server.program().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] {
        return fingerprint_at(server.port()) == fingerprint_of(second.certificate());
    }));
    write_file(key, "nonsense");
    server.program().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] {
        return Apart::text(server.err()).find("server.certificate stays as it was") !=
               std::string::npos;
    }));
    EXPECT_EQ(fingerprint_at(server.port()), fingerprint_of(second.certificate()));

    // Plain HTTP to it is told what is spoken here.
    Client plain(server.port());
    const auto emitted = plain.get("/healthz");
    EXPECT_EQ(emitted.status, 400);
    EXPECT_THAT(emitted.body, HasSubstr("https://"));
}

TEST(Running, HangUpOpensTheAccessLogAgain) {
    const TempFolder folder("workboard-reload");
    const auto log = folder.path() / "access.log", old = folder.path() / "access.log.1";
    const Server server(
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {"log.access=" + log.string()}}
    );
    server.client().get("/healthz");
    EXPECT_TRUE(eventually([&] { return fs::file_size(log) > 0; }));
    fs::rename(log, old);
    server.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return fs::exists(log); }));
    server.client().get("/readyz");
    EXPECT_TRUE(eventually([&] { return read_file(log).find("/readyz") != std::string::npos; }));
    EXPECT_THAT(read_file(old), HasSubstr("/healthz"));
    EXPECT_THAT(read_file(old), Not(HasSubstr("/readyz")));
}

TEST(Running, TheAccessLogHoldsNoTokenOfAShareLink) {
    const TempFolder folder("workboard-log");
    const auto log = folder.path() / "access.log";
    const Server server(
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {"log.access=" + log.string()}}
    );
    auto space = make_workspace(server);
    const auto board = expect(201, space.client.post("/v1/boards", json::value{{"name", "Open"}}));
    const auto path = "/v1/boards/" + board.text("/id") + "/share-links";
    const auto url = expect(201, space.client.post(path, "{}")).text("/url");
    const auto token = url.substr(url.rfind('/') + 1);
    ASSERT_TRUE(token.starts_with("sl_")) << url;
    Client anybody = server.client();
    expect(200, anybody.get("/v1/shared/" + token));
    expect(200, anybody.get("/shared/" + token));
    for (const auto& nowhere : {"/v1/shared/" + token + "/x", "/v1/%73hared/" + token})
        EXPECT_EQ(anybody.get(nowhere).status, 404);
    EXPECT_EQ(anybody.send("DELETE", "/v1/shared/" + token).status, 405);
    anybody.get("/healthz");
    ASSERT_TRUE(eventually([&] { return read_file(log).find("/healthz") != std::string::npos; }));
    const auto lines = read_file(log);
    EXPECT_THAT(lines, HasSubstr(R"("target":"/v1/shared/***","operation":"get_shared_board")"));
    EXPECT_THAT(lines, HasSubstr(R"("target":"/shared/***")"));
    EXPECT_THAT(lines, Not(HasSubstr(token.substr(3))));
    EXPECT_THAT(server.output(), Not(HasSubstr(token.substr(3))));
}

// While events are committed, put in order and handed to scripts by as many threads.
TEST(Running, EndsInOrderWhileMuchIsWritten) {
    Server server({.database_url = Postgres::shared().fresh_database()});
    auto space = make_workspace(server);
    const auto id =
        expect(201, space.client.post("/v1/boards", json::value{{"name", "B"}})).text("/id");
    const auto board = "/v1/boards/" + id;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::jthread> writers;
        for (int each = 0; each < 4; ++each)
            writers.emplace_back([&](std::stop_token stop) {
                Client client = space.client;
                while (!stop.stop_requested()) try {
                        client.send(
                            "PATCH", board, R"({"description":")" + new_uuid().str() + R"("})"
                        );
                    } catch (const std::exception&) {
                        return;  // the server has gone
                    }
            });
        std::this_thread::sleep_for(300ms);
        EXPECT_EQ(server.end(SIGTERM), 0) << server.output();
        writers.clear();
        server.start();
    }
}

TEST(Running, AServerWithAnotherKeyIsRefusedInOneLineUntilTheKeyIsAccepted) {
    const auto url = Postgres::shared().fresh_database();
    Server first({.database_url = url});
    const TempFolder folder("workboard-key");
    const auto second = workboard({"serve", "--port", "0"}, folder.path(), url);
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.text, HasSubstr("the servers of this database use another key"));
    EXPECT_EQ(std::ranges::count(second.text, '\n'), 1) << second.text;
    first.end(SIGTERM);
    EXPECT_EQ(workboard({"key", "show"}, folder.path(), url).code, 1);
    EXPECT_EQ(workboard({"key", "rotate"}, folder.path(), url).code, 0);
    EXPECT_EQ(workboard({"key", "show"}, folder.path(), url).code, 0);
    const auto key = "server.secret=file:" + (folder.path() / "server.key").string();
    // The key in the file is bytes, which the settings take as they are.
    const Apart works({"--var", folder.path().string()}, url);
    EXPECT_EQ(Client(works.port()).get("/readyz").status, 200);
}

TEST(Running, TheKeyIsNotChangedUnderAServerThatRuns) {
    const auto url = Postgres::shared().fresh_database();
    Server server({.database_url = url});
    const auto recorded = [&] {
        return Postgres::shared().run("SELECT fingerprint FROM server_key", url);
    };
    const auto before = recorded();
    const TempFolder folder("workboard-key");
    for (const char* what : {"rotate", "accept"}) {
        const auto said = workboard({"key", what}, folder.path(), url);
        EXPECT_EQ(said.code, 1) << what;
        EXPECT_THAT(said.text, HasSubstr("other sessions; stop all servers")) << what;
        EXPECT_EQ(recorded(), before) << what;
    }
    server.end(SIGTERM);
    EXPECT_EQ(workboard({"key", "rotate"}, folder.path(), url).code, 0);
    EXPECT_NE(recorded(), before);
}

TEST(Running, InJsonEveryLineOfStandardOutputIsJson) {
    const Apart server({"--log", "json"}, Postgres::shared().fresh_database());
    Client(server.port()).get("/healthz");
    EXPECT_TRUE(eventually([&] {
        return Apart::text(server.out()).find("/healthz") != std::string::npos;
    }));
    for (const auto& name : {server.out(), server.err()}) {
        std::istringstream lines(Apart::text(name));
        for (std::string line; std::getline(lines, line);) {
            boost::system::error_code unfit;
            json::parse(line, unfit);
            EXPECT_FALSE(unfit) << line;
        }
    }
}

TEST(Running, TheTextFormNamesRequestAndPrincipalToo) {
    const Apart server({"--log", "text"}, Postgres::shared().fresh_database());
    const auto reply = Client(server.port()).get("/healthz");
    EXPECT_TRUE(eventually([&] {
        return Apart::text(server.out()).find(reply.header("x-request-id")) != std::string::npos;
    })) << Apart::text(server.out());
    EXPECT_THAT(Apart::text(server.out()), HasSubstr("us 127.0.0.1 - "));
}

TEST(Running, AnOutageOfTheDatabaseIsOneLineAndItsEndAnother) {
    Postgres own;
    const Server server({.database_url = own.fresh_database()});
    EXPECT_EQ(server.client().get("/readyz").status, 200);
    // What comes while it still connects, libpq prints itself.
    EXPECT_TRUE(eventually([&] {
        return own.run(
                   "SELECT max(backend_start) < now() - interval '500 ms' FROM pg_stat_activity "
                   "WHERE application_name = 'workboard'"
               ) == "t";
    }));
    own.stop();
    for (int i = 0; i < 20; ++i) {
        server.client().get("/v1/auth/google/callback");
        server.client().token("wb_nobody").get("/v1/me");
        std::this_thread::sleep_for(100ms);
    }
    own.start();
    EXPECT_TRUE(eventually([&] {
        server.client().token("wb_nobody").get("/v1/me");
        return server.output().find("the database is there again") != std::string::npos;
    }));
    const auto said = server.output();
    EXPECT_EQ(count_of(said, "the database cannot be reached: "), 1) << said;
    EXPECT_EQ(count_of(said, "the database is there again"), 1) << said;
    EXPECT_EQ(count_of(said, "ExclusiveLock"), 0) << said;
    EXPECT_EQ(count_of(said, "terminating connection"), 0) << said;
}

TEST(Running, SaysSoWhenSearchesCannotUseTheirIndexes) {
    const Apart server({}, Postgres::shared().fresh_database());
    EXPECT_THAT(
        Apart::text(server.err()),
        HasSubstr("ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF")
    );
}

TEST(Running, TellsBrowsersForHowLongToUseHttpsAlone) {
    const auto url = Postgres::shared().fresh_database();
    for (const auto& [days, header] : {std::pair{"0", ""}, std::pair{"2", "max-age=172800"}}) {
        const Server server(
            {.database_url = url, .settings = {std::string("server.https_only_days=") + days}}
        );
        for (const char* path : {"/", "/v1/me", "/nowhere"})
            EXPECT_EQ(server.client().get(path).header("strict-transport-security"), header);
    }
}

TEST(Running, MetricsAreForThisMachineUnlessThereIsAToken) {
    const auto url = Postgres::shared().fresh_database();
    Server server({.database_url = url});
    make_workspace(server);
    const auto text = expect(200, server.client().get("/metrics")).body;
    for (const char* name :
         {"workboard_build_info{version=\"" SVC_VERSION "\"} 1\n",
          "process_resident_memory_bytes ",
          "process_cpu_seconds_total ",
          "process_open_fds ",
          "process_start_time_seconds ",
          "workboard_mail_outbox{status=\"failed\"} 0\n",
          "workboard_queue_cards{state=\"ready\"} 0\n",
          "workboard_queue_cards{state=\"leased\"} 0\n",
          "workboard_queue_overdue_leases 0\n",
          "workboard_consumer_oldest_seconds{consumer=\"notifications\"} ",
          "workboard_auth_hashes_waiting "})
        EXPECT_THAT(text, HasSubstr(name));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(
            line.starts_with("# ") || line.starts_with("workboard_") || line.starts_with("process_")
        ) << line;
    server.end(SIGTERM);

    const Server behind({.database_url = url, .settings = {"server.base_url=https://wb.example"}});
    EXPECT_EQ(behind.client().get("/metrics").status, 401);
    const Server open(
        {.database_url = url,
         .settings = {"server.base_url=https://wb.example", "metrics.token=let me see"}}
    );
    EXPECT_EQ(open.client().get("/metrics").status, 401);
    Client scraper = open.client();
    EXPECT_EQ(scraper.token("let me see").get("/metrics").status, 200);
}

TEST(Running, NumbersThatCannotBeReadAreLeftOutAndTheLogSaysWhy) {
    const auto url = Postgres::shared().fresh_database();
    const Server server({.database_url = url});
    Postgres::shared().run("ALTER TABLE event_consumers RENAME TO gone", url);
    const auto text = expect(200, server.client().get("/metrics")).body;
    EXPECT_THAT(text, testing::Not(HasSubstr("workboard_consumer_oldest_seconds")));
    EXPECT_THAT(text, HasSubstr("workboard_mail_outbox"));
    EXPECT_THAT(server.output(), HasSubstr("kernel: some are left out, as they cannot be read"));
}

}  // namespace svc::test
