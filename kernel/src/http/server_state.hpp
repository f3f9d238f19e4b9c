#pragma once

#include "http/connection_table.hpp"
#include "http/descriptor.hpp"
#include "http/exchange.hpp"
#include "http/polling_pool.hpp"
#include "http/proxies.hpp"
#include "http/server.hpp"
#include "http/work_queue.hpp"
#include "svc/published.hpp"

#include <atomic>
#include <optional>

namespace svc::http {

/// What all threads of the front end share.
struct ServerState {
    ServerState(const Settings& settings, Service& service);

    const Settings settings;
    Service& service;
    const Proxies proxies;
    /// None: no TLS. Read anew for every connection, since certificates are replaced.
    Published<TlsContext> tls;
    const RequestAssembler::Limits limits;
    Descriptor epoll;
    Descriptor wakeup;          // an eventfd in the set: somebody should look at the jobs
    Descriptor deadline_alarm;  // an eventfd that the deadline thread sleeps on
    Descriptor listener;
    ConnectionTable table;
    WorkQueue work_queue;
    PollingPool polling_pool;
    Exchanges exchanges;

    std::atomic<bool> stopping{false};      // no new requests
    std::atomic<bool> quitting{false};      // threads end
    std::atomic<bool> alarmed{false};       // the deadline thread knows that all workers are busy
    std::atomic<bool> accept_again{false};  // there was no descriptor for a connection
    std::atomic<std::size_t> parked{0}, streams{0};
    std::atomic<std::size_t> held{0};  // bytes of requests that wait or waited
    std::atomic<std::uint64_t> accepted{0}, refused{0};

    // Keys of the set that are no connection's.
    static constexpr std::uint64_t wakeup_key = ~std::uint64_t{0}, listener_key = wakeup_key - 1;

    bool has_room(std::size_t bytes) const {
        return held.load(std::memory_order_relaxed) + bytes <= settings.most_held;
    }
    /// Has a worker look at the jobs. Any thread.
    void wake() const;
    /// Tells the deadline thread that all workers are busy.
    void alarm();
    /// Also hear when the socket takes bytes again; at once if it does already.
    void watch_writes(const Connection& connection) const;
};

}  // namespace svc::http
