#pragma once

#include "bus/pending.hpp"
#include "http/descriptor.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace svc::bus {

/// The Bus: sends what this server publishes and hands out what others did, on a thread of its own,
/// over the connection that a driver makes. A connection that breaks is made again, after longer
/// and longer pauses; one that keeps silent is found out, for what a server sends comes back to it.
/// Servers know of each other by the beats that each sends: while nobody else is there, nothing but
/// these is sent.
class ServerBus final : public Bus {
public:
    using Clock = std::chrono::steady_clock;
    struct Settings {
        /// Between two messages; what is published meanwhile shares the next.
        std::chrono::milliseconds spacing{4};
        std::chrono::milliseconds beat{5'000};
        /// Nothing of one's own came back for so long: the connection is dead.
        std::chrono::milliseconds silence{12'000};
        /// A server that was not heard for so long is gone.
        std::chrono::milliseconds forget{16'000};
        std::chrono::milliseconds retry{250}, longest_retry{10'000};
    };

    ServerBus();
    explicit ServerBus(Settings settings);
    ~ServerBus() override;

    void subscribe(std::string_view channel, Listener listener) override;
    void publish(std::string_view channel, std::string_view payload = {}) override;
    std::size_t peers() const override { return peers_; }

    /// Begins. `driver` has to outlive stop().
    void start(BusDriver& driver, std::string channel, MessageFormat::Sign sign);
    /// Sends what waits and ends the thread. What is published afterwards goes nowhere.
    void stop() noexcept;

    struct Load {
        bool connected = false;        ///< what is sent comes back
        std::size_t peers = 0;         ///< other servers that were heard of late
        std::uint64_t sent = 0;        ///< messages, beats included
        std::uint64_t received = 0;    ///< of other servers
        std::uint64_t rejected = 0;    ///< not made by a server of this database
        std::uint64_t dropped = 0;     ///< notes for which there was no room
        std::uint64_t reconnects = 0;  ///< connections made after the first
    };
    Load load() const;

private:
    class Session;

    void run();
    void rest(std::chrono::milliseconds time);
    void note_connected();
    void note_lost(const std::string& why);
    void dispatch(const Note& note);
    std::vector<Note> take_pending();
    bool has_pending() const;

    const Settings settings_;
    std::map<std::string, std::vector<Listener>, std::less<>> listeners_;  // fixed once started
    http::Descriptor wakeup_;  // an eventfd: something waits to be sent, or it is to end

    BusDriver* driver_ = nullptr;
    std::string channel_;
    std::unique_ptr<MessageFormat> format_;
    const std::string self_ = new_sender();

    mutable std::mutex mutex_;
    PendingNotes pending_;  // under the mutex

    // The thread's own.
    std::map<std::string, Clock::time_point, std::less<>> heard_;  // other servers, and when
    bool failing_ = false;

    std::atomic<bool> connected_{false}, ending_{false};
    std::atomic<std::size_t> peers_{0};  // who would hear what is published
    std::atomic<std::uint64_t> sent_{0}, received_{0}, rejected_{0}, dropped_{0}, connections_{0};
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace svc::bus
