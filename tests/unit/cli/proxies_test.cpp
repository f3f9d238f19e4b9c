#include "tests/support/certificate.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/cli/commands.hpp"
#include "tests/unit/cli/recipes.hpp"

/// The recipes of docs/operating.md, run by the programs they are for.
namespace svc::test {

namespace {

using namespace std::chrono_literals;

/// What curl got over TLS: the status behind the body.
std::string fetch(std::uint16_t port, const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> command{
        "curl", "-sk", "-w", "\n%{http_code}", "--max-time", "10", "--noproxy", "*"};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back("https://localhost:" + std::to_string(port) + path);
    return run(command).output;
}

/// Two servers' worth of checks that any proxy has to pass.
void expect_passes(const Server& server, std::uint16_t port, const fs::path& access) {
    std::string answer;
    EXPECT_TRUE(eventually([&] { return (answer = fetch(port, "/readyz")) == "ready\n\n200"; }))
        << answer;
    const auto signed_up = fetch(
        port,
        "/v1/auth/signup",
        {"-H",
         "X-Board-Version: 2026-06-19",
         "-H",
         "X-Forwarded-For: 203.0.113.9",  // what a stranger says of himself counts for nothing
         "--interface",
         "127.0.0.7",
         "--json",
         R"({"email":"ada@example.com","password":"correct horse battery","name":"Ada"})"}
    );
    EXPECT_TRUE(signed_up.ends_with("\n201")) << signed_up;
    std::string lines;
    std::size_t at = std::string::npos;
    ASSERT_TRUE(eventually([&] {
        lines = read_file(access);
        return (at = lines.find("/v1/auth/signup")) != std::string::npos;
    }));
    const auto line = lines.substr(at, lines.find('\n', at) - at);
    EXPECT_THAT(line, HasSubstr(R"("client":"127.0.0.7")"));
    EXPECT_TRUE(fetch(port, "/metrics").ends_with("\n401"));
    EXPECT_THAT(server.mail_to("ada@example.com"), HasSubstr("https://boards.example.com/"));
}

/// A WebSocket through the proxy, signed in by the cookie of whoever verifies the address.
void expect_passes_web_sockets(const Server& server, std::uint16_t port, const fs::path& jar) {
    const std::string version = "X-Board-Version: 2026-06-19";
    const auto token = mail_value(server.mail_to("ada@example.com"), "token=");
    const auto session = fetch(
        port,
        "/v1/auth/verify-email",
        {"-H", version, "-c", jar, "--json", R"({"token":")" + token + R"("})"}
    );
    const std::string mark = R"("csrf_token":")";
    const auto at = session.find(mark);
    ASSERT_NE(at, session.npos) << session;
    const auto begin = at + mark.size();
    const auto csrf = session.substr(begin, session.find('"', begin) - begin);
    const auto org = fetch(
        port,
        "/v1/orgs",
        {"-H", version, "-H", "X-CSRF-Token: " + csrf, "-b", jar, "--json", R"({"name":"Acme"})"}
    );
    const auto id = org.substr(org.find(R"("id":")") + 6, 36);
    const auto opened = fetch(
        port,
        "/v1/ws?org_id=" + id,
        {"--http1.1",
         "--max-time",
         "2",
         "-b",
         jar,
         "-H",
         "Upgrade: websocket",
         "-H",
         "Connection: Upgrade",
         "-H",
         "Sec-WebSocket-Version: 13",
         "-H",
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
         "-H",
         "Origin: https://boards.example.com"}
    );
    EXPECT_TRUE(opened.ends_with("\n101")) << opened;
}

class Proxies : public testing::Test {
protected:
    Proxies()
        : server({
              .database_url = Postgres::shared().fresh_database(),
              .settings =
                  {"server.base_url=https://boards.example.com",
                   "server.trusted_proxies=127.0.0.1",
                   "log.access=" + access().string()},
          }) {}
    fs::path access() const { return folder.path() / "access.log"; }
    std::string upstream() const { return "127.0.0.1:" + std::to_string(server.port()); }

    TempFolder folder{"workboard-proxy"};
    const http::test::Certificate files;
    const std::uint16_t port = free_port();
    const Server server;
};

}  // namespace

TEST_F(Proxies, NginxAsDocumentedPassesRequestsOn) {
    auto site = recipe("nginx");
    replace(site, "listen 443 ssl;", "listen 127.0.0.1:" + std::to_string(port) + " ssl;");
    replace(site, "boards.example.com;", "localhost;");
    replace(site, "/etc/ssl/boards.pem", files.certificate());
    replace(site, "/etc/ssl/boards.key", files.key());
    replace(site, "127.0.0.1:8080", upstream());
    const auto temp = [&](const char* kind) {
        return std::string(kind) + "_temp_path " + (folder.path() / kind).string() + ";\n";
    };
    write_file(
        folder.path() / "nginx.conf",
        "daemon off;\npid " + (folder.path() / "pid").string() +
            ";\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + temp("client_body") +
            temp("proxy") + temp("fastcgi") + temp("uwsgi") + temp("scgi") + site + "}\n"
    );
    Program nginx(
        {.command = {"/usr/sbin/nginx", "-c", folder.path() / "nginx.conf", "-p", folder.path()},
         .environment = {},
         .folder = {},
         .output = folder.path() / "proxy.log"}
    );
    expect_passes(server, port, access());
    expect_passes_web_sockets(server, port, folder.path() / "cookies");
    nginx.signal(SIGTERM);
    EXPECT_TRUE(nginx.wait(10s)) << read_file(folder.path() / "proxy.log");
}

TEST_F(Proxies, CaddyAsDocumentedPassesRequestsOn) {
    auto site = recipe("caddy");
    const auto pair = files.certificate().string() + " " + files.key().string();
    replace(
        site,
        "boards.example.com {",
        "localhost:" + std::to_string(port) + " {\n\tbind 127.0.0.1\n\ttls " + pair
    );
    replace(site, "127.0.0.1:8080", upstream());
    write_file(
        folder.path() / "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site
    );
    Program caddy(
        {.command =
             {"caddy", "run", "--adapter", "caddyfile", "--config", folder.path() / "Caddyfile"},
         .environment =
             {"HOME=" + folder.path().string(), "XDG_DATA_HOME=" + folder.path().string()},
         .folder = folder.path(),
         .output = folder.path() / "proxy.log"}
    );
    expect_passes(server, port, access());
    expect_passes_web_sockets(server, port, folder.path() / "cookies");
    caddy.signal(SIGTERM);
    EXPECT_TRUE(caddy.wait(10s)) << read_file(folder.path() / "proxy.log");
}

}  // namespace svc::test
