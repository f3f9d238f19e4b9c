#include "http/server.hpp"

#include "http/deadline_thread.hpp"
#include "http/listener.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace svc::http {

namespace {

using Clock = std::chrono::steady_clock;

// Database connections, files, libraries.
constexpr rlim_t descriptors_besides = 512;

/// As many descriptors as connections may need, as far as the hard limit goes.
void raise_descriptor_limit(std::size_t connections) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const auto wanted = std::min<rlim_t>(connections + descriptors_besides, limit.rlim_max);
    if (limit.rlim_cur >= wanted) return;
    limit.rlim_cur = wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class Server::Impl {
public:
    Impl(const Settings& settings, Service& service) : server_state(settings, service) {}
    ~Impl() {
        stop(std::chrono::milliseconds(0));
        for (auto& each : threads_) each.join();
        abandon_rest();
    }

    void start(int listener);
    void stop(std::chrono::milliseconds grace);

    ServerState server_state;
    std::uint16_t port = 0;

private:
    void begin_thread(std::function<void()> work);
    void abandon_rest();
    template <class Condition>
    bool wait_until(Clock::time_point end, Condition condition);

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t running_ = 0;  // threads; under mutex_
    bool started_ = false;
    bool stopped_ = false;
};

void Server::Impl::start(int listener) {
    server_state.listener.set(listener);
    raise_descriptor_limit(server_state.settings.max_connections);
    port = port_of(server_state.listener.get());
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = ServerState::listener_key}};
    if (epoll_ctl(server_state.epoll.get(), EPOLL_CTL_ADD, server_state.listener.get(), &event) !=
        0)
        throw std::system_error(errno, std::system_category(), "epoll_ctl");
    started_ = true;
    for (int each = 0; each < server_state.settings.workers; ++each)
        begin_thread([this] { Worker(server_state, Worker::Role::server).run(); });
    begin_thread([this] { DeadlineThread(server_state).run(); });
}

void Server::Impl::begin_thread(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    threads_.emplace_back([this, work = std::move(work)] {
        work();
        std::lock_guard ending(mutex_);
        --running_;
        ended_.notify_all();
    });
    ++running_;
}

/// Whether `condition`, asked every few milliseconds, came true by `end`.
template <class Condition>
bool Server::Impl::wait_until(Clock::time_point end, Condition condition) {
    while (!condition()) {
        if (Clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

void Server::Impl::stop(std::chrono::milliseconds grace) {
    if (!started_ || stopped_) return;
    stopped_ = true;
    const auto end = Clock::now() + grace;
    server_state.stopping.store(true, std::memory_order_release);
    shutdown(server_state.listener.get(), SHUT_RDWR);  // closed when no thread can be accepting
    server_state.table.for_each_slot([&](Connection& each) {
        server_state.work_queue.look(each.key());
    });
    server_state.wake();
    wait_until(end, [&] {
        // Again and again: a request that was running may have parked just now.
        server_state.exchanges.resume_parked();
        return server_state.table.live() == 0;
    });
    server_state.quitting.store(true, std::memory_order_release);
    server_state.polling_pool.dismiss();
    server_state.wake();
    eventfd_write(server_state.deadline_alarm.get(), 1);
    const bool all_ended =
        wait_until(std::max(end, Clock::now() + std::chrono::milliseconds(100)), [&] {
            std::lock_guard lock(mutex_);
            return running_ == 0;
        });
    if (all_ended) abandon_rest();
}

/// What the grace did not suffice for. No thread is left.
void Server::Impl::abandon_rest() {
    for (auto& each : threads_)
        if (each.joinable()) each.join();
    threads_.clear();
    Worker worker(server_state, Worker::Role::server);
    server_state.table.for_each_slot([&](Connection& each) { worker.abandon(each); });
    server_state.exchanges.forget_all();
    server_state.listener.close();
}

Server::Server(const Settings& settings, Service& service)
    : impl_(std::make_unique<Impl>(settings, service)) {}

Server::~Server() = default;

void Server::start() {
    const Settings& settings = impl_->server_state.settings;
    start(listen_on(settings.address, settings.port));
}

void Server::start(int listener) { impl_->start(listener); }

void Server::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

std::uint16_t Server::port() const { return impl_->port; }

void Server::reload_certificate() {
    ServerState& server_state = impl_->server_state;
    if (server_state.tls.get())
        server_state.tls.set(std::make_shared<const TlsContext>(
            server_state.settings.certificate, server_state.settings.key
        ));
}

Load Server::load() const {
    const ServerState& server_state = impl_->server_state;
    return {
        .connections = server_state.table.live(),
        .busy_workers = static_cast<std::size_t>(server_state.polling_pool.busy()),
        .queued = server_state.work_queue.waiting(),
        .parked = server_state.parked.load(std::memory_order_relaxed),
        .streams = server_state.streams.load(std::memory_order_relaxed),
        .accepted = server_state.accepted.load(std::memory_order_relaxed),
        .refused = server_state.refused.load(std::memory_order_relaxed),
    };
}

}  // namespace svc::http
