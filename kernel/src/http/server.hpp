#pragma once

#include "http/refusal.hpp"
#include "svc/http.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The front end: sockets, parsing, deadlines. One epoll set shared by the workers; a
/// request reaches the Service only when it is whole and in memory. README.md says how.
namespace svc::http {

struct Settings {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;  ///< 0: any free one; see Server::port()
    int workers = 16;
    std::size_t queue = 1024;  ///< whole requests waiting for a worker; beyond it 503 + Retry-After
    std::size_t max_connections = 19000;
    std::chrono::milliseconds head_deadline{10'000};  ///< for the whole head, from its first byte
    std::chrono::milliseconds body_deadline{30'000};  ///< for the whole body
    /// Bytes a second that a body which is passed on piece by piece may take its time for besides.
    std::uint64_t slowest_body = 64 << 10;
    std::chrono::milliseconds idle_deadline{75'000};   ///< between requests
    std::chrono::milliseconds write_deadline{30'000};  ///< for a peer that does not read its answer
    /// Bytes a second of an answer that a peer has to take besides: one that takes fewer is given
    /// up, however steadily it does.
    std::uint64_t slowest_reader = 8 << 10;
    std::size_t most_held = 64 << 20;  ///< bytes of requests that wait or waited
    std::size_t head_limit = 16 << 10;
    std::size_t stream_backlog = 256 << 10;    ///< bytes a stream may have unsent
    std::filesystem::path certificate;         ///< PEM; TLS when set
    std::filesystem::path key;                 ///< PEM
    std::vector<std::string> trusted_proxies;  ///< addresses or CIDR whose X-Forwarded-* count
};

/// One request on its connection. Owned by the front end; a Service that parks keeps the
/// pointer for resume(), and may use it as long as the Server lives.
class Exchange {
public:
    virtual ~Exchange() = default;
    /// Its views are made anew for every serve: none of them outlives a park.
    virtual const Request& request() const = 0;
    /// The Service's own state over a park (its deadline, say); destroyed when the request is
    /// answered.
    std::shared_ptr<void> state;
    /// Thread-safe: has a worker call Service::serve again, once serve has returned `parked`; may
    /// be called before that (the wake can overtake the return), and then counts all the same.
    /// Server::stop resumes too. A resume too many has a request looked at once more, at worst.
    virtual void resume() = 0;
    /// Bytes that the connection holds while this is parked, and whether there is room for them
    /// besides what all others hold.
    virtual std::size_t bytes_held() const = 0;
    virtual bool room_to_park() const = 0;
    /// A parked peer that hung up; resume() then still works and the answer goes nowhere.
    virtual bool abandoned() const = 0;

    /// Of a body that was passed on: what took it, and what it threw.
    BodySink* sink = nullptr;
    std::exception_ptr sink_failure;

    /// The answer. The front end adds Date, Content-Length and Connection, and for HEAD leaves the
    /// body out.
    Answer answer;
    /// Set when the connection becomes a stream after `answer`'s head.
    std::function<void(std::shared_ptr<Stream>)> stream;
};

enum class Outcome { answered, parked };

/// What a route says of the bodies that are sent to it.
struct BodyRules {
    std::size_t most;        ///< bytes
    bool in_pieces = false;  ///< taken piece by piece, by what Service::receive gives
};

/// What serves requests. Called on any worker, for many requests at once.
class Service {
public:
    virtual ~Service() = default;
    virtual Outcome serve(Exchange& exchange) = 0;
    /// Asked when a request finds no worker free: answers it if that waits for nothing and may
    /// not wait itself. False: its turn will come. Any thread, the watching one included.
    virtual bool serve_at_once(Exchange&) { return false; }
    /// Asked once the head of a request with a body is read.
    virtual BodyRules body_rules(std::string_view method, std::string_view path) const = 0;
    /// What takes the body of this request, of which only the head is here. May throw.
    virtual std::unique_ptr<BodySink> receive(const Request&) { return nullptr; }
    /// An answer to what never became a request (malformed, too large, too slow, no worker):
    /// fills status, headers and body. `seen` is what of it could be made out, which may be
    /// nothing.
    virtual void refuse(const Refusal& why, const Request& seen, Answer& answer) const = 0;
};

struct Load {
    std::size_t connections, busy_workers, queued, parked, streams;
    std::uint64_t accepted, refused;
};

class Server {
public:
    /// Throws std::runtime_error naming the file or the setting that is of no use.
    Server(const Settings& settings, Service& service);
    /// Stops without grace, and waits for handlers that still run.
    ~Server();
    /// Binds and begins to serve, on `workers` threads and one more; throws std::runtime_error
    /// naming the address.
    void start();
    /// The same on a socket of listen_on(), which is the server's from now on.
    void start(int listener);
    /// Stops accepting, answers what runs (parked ones are resumed), closes idle connections and
    /// streams, and returns when all is done or `grace` is over.
    void stop(std::chrono::milliseconds grace);
    std::uint16_t port() const;
    Load load() const;
    /// Reads certificate and key again, for connections from now on; throws std::runtime_error, and
    /// keeps those it has, when they are of no use.
    void reload_certificate();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc::http
