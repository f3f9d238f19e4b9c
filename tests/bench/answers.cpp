#include "lab.hpp"
#include "load.hpp"
#include "process.hpp"

#include <csignal>
#include <cstdlib>
#include <thread>

/// A kilobyte of JSON, against nginx with the same bytes.
namespace svc::bench {

namespace {

constexpr int connections = 32;

std::string nginx_program() {
    if (const char* named = std::getenv("WORKBOARD_NGINX")) return named;
    return "/usr/sbin/nginx";
}

/// As fast as nginx can do it: the bytes are in its configuration, and it writes no log.
std::string nginx_config(const std::string& folder, std::uint16_t port, const std::string& body) {
    return "worker_processes 2;\ndaemon off;\npid " + folder + "/pid;\nerror_log " + folder +
           "/error;\nevents { worker_connections 4096; use epoll; multi_accept on; }\n"
           "http { access_log off; keepalive_requests 100000000; tcp_nodelay on;\n"
           "default_type application/json;\nclient_body_temp_path " +
           folder + "/b; proxy_temp_path " + folder + "/p; fastcgi_temp_path " + folder +
           "/f; uwsgi_temp_path " + folder + "/u; scgi_temp_path " + folder +
           "/s;\nserver { listen 127.0.0.1:" + std::to_string(port) +
           " backlog=4096; location / { return 200 '" + body + "'; } } }\n";
}

class Nginx {
public:
    explicit Nginx(const std::string& body) : folder_("workboard-nginx"), port_(test::free_port()) {
        const auto config = folder_.path() / "nginx.conf";
        test::write_file(config, nginx_config(folder_.path(), port_, body));
        program_ = std::make_unique<test::Program>(test::Program::Start{
            .command = {nginx_program(), "-c", config},
            .environment = {},
            .folder = {},
            .output = folder_.path() / "output",
        });
        for (int i = 0; i < 200; ++i) {
            try {
                Presser(port_).ask(request_text("GET", "/", ""));
                return;
            } catch (const std::runtime_error&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(25));
            }
        }
        throw std::runtime_error(
            "nginx did not start: " + test::read_file(folder_.path() / "output")
        );
    }
    ~Nginx() {
        program_->signal(SIGTERM);
        program_->wait(std::chrono::seconds(5));
    }
    Nginx(const Nginx&) = delete;
    Nginx& operator=(const Nginx&) = delete;
    std::uint16_t port() const { return port_; }
    pid_t pid() const { return program_->pid(); }

private:
    test::TempFolder folder_;
    std::uint16_t port_;
    std::unique_ptr<test::Program> program_;
};

const std::string versioned =
    "wrk.headers['X-Board-Version'] = '2026-06-19'\n"
    "function request() return wrk.format('GET', wrk.path) end\n";

/// Microseconds of server time for a request.
double cost(pid_t server, std::uint16_t port, const std::string& path, int seconds) {
    const double before = cpu_nanoseconds(server);
    const auto pressed = wrk(port, connections, seconds, path, versioned);
    return (cpu_nanoseconds(server) - before) / pressed.requests / 1000;
}

}  // namespace

void measure_answers(Lab& lab, const Plan& plan, Report& report) {
    const std::string path = "/v1/bench-note";
    const auto reply = lab.server().client().get(path);
    if (reply.status != 200) throw std::runtime_error("no kilobyte: " + reply.body);
    report.note("an answer of " + std::to_string(reply.body.size()) + " bytes, 32 connections");
    const Nginx nginx(reply.body);
    const auto& server = lab.server();
    const std::vector<Variant> variants{
        {"workboard", [&] { return cost(server.pid(), server.port(), path, plan.seconds); }},
        {"nginx", [&] { return cost(nginx.pid(), nginx.port(), "/", plan.seconds); }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        "answer-cpu/nginx",
        median(values[0]) / median(values[1]),
        at_most(1.5),
        {{"microseconds", rounds_of(variants, values)}}
    );
}

}  // namespace svc::bench
