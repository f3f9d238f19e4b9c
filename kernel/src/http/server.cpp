#include "http/server.hpp"

#include "http/keeper.hpp"
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
    Impl(const Settings& settings, Service& service) : front(settings, service) {}
    ~Impl() {
        stop(std::chrono::milliseconds(0));
        for (auto& each : threads_) each.join();
        abandon_rest();
    }

    void start();
    void stop(std::chrono::milliseconds grace);

    Front front;
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

void Server::Impl::start() {
    raise_descriptor_limit(front.settings.max_connections);
    front.listener.set(listen_on(front.settings.address, front.settings.port));
    port = port_of(front.listener.get());
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = Front::listener_key}};
    if (epoll_ctl(front.epoll.get(), EPOLL_CTL_ADD, front.listener.get(), &event) != 0)
        throw std::system_error(errno, std::system_category(), "epoll_ctl");
    started_ = true;
    for (int each = 0; each < front.settings.workers; ++each)
        begin_thread([this] { Worker(front, Worker::Role::server).run(); });
    begin_thread([this] { Keeper(front).run(); });
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
    front.stopping.store(true, std::memory_order_release);
    shutdown(front.listener.get(), SHUT_RDWR);  // closed when no thread can be accepting
    front.table.for_each_slot([&](Connection& each) { front.jobs.look(each.key()); });
    front.ring();
    wait_until(end, [&] {
        // Again and again: a request that was running may have parked just now.
        front.exchanges.resume_parked();
        return front.table.live() == 0;
    });
    front.quitting.store(true, std::memory_order_release);
    front.crew.dismiss();
    front.ring();
    eventfd_write(front.keeper_alarm.get(), 1);
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
    Worker worker(front, Worker::Role::server);
    front.table.for_each_slot([&](Connection& each) { worker.abandon(each); });
    front.listener.close();
}

Server::Server(const Settings& settings, Service& service)
    : impl_(std::make_unique<Impl>(settings, service)) {}

Server::~Server() = default;

void Server::start() { impl_->start(); }

void Server::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

std::uint16_t Server::port() const { return impl_->port; }

void Server::reload_certificate() {
    Front& front = impl_->front;
    if (front.tls.load())
        front.tls =
            std::make_shared<const TlsContext>(front.settings.certificate, front.settings.key);
}

Load Server::load() const {
    const Front& front = impl_->front;
    return {
        .connections = front.table.live(),
        .busy_workers = static_cast<std::size_t>(front.crew.busy()),
        .queued = front.jobs.waiting(),
        .parked = front.parked.load(std::memory_order_relaxed),
        .streams = front.streams.load(std::memory_order_relaxed),
        .accepted = front.accepted.load(std::memory_order_relaxed),
        .refused = front.refused.load(std::memory_order_relaxed),
    };
}

}  // namespace svc::http
