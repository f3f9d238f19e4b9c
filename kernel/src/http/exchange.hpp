#pragma once

#include "http/connection.hpp"
#include "http/server.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace svc::http {

struct ServerState;

/// An exchange as the front end sees it. Kept for the life of the server and used again, which
/// saves its allocations, and makes a resume() that comes late a harmless extra run of
/// whatever request it finds parked.
class LiveExchange final : public Exchange {
public:
    explicit LiveExchange(ServerState& server_state) : server_state_(server_state) {}

    const Request& request() const override { return request_; }
    void resume() override;
    bool abandoned() const override { return connection().ownership.hung_up(); }
    std::size_t bytes_held() const override { return connection().unread(); }
    bool room_to_park() const override;

    Head head;
    Connection& connection() const { return *connection_.load(std::memory_order_relaxed); }

    /// Takes up the whole request that `head` and the connection's bytes hold.
    void begin(Connection& connection);
    /// Before every serve.
    void run() {
        // No plain store: the serve sees what a resume was about that is overwritten here.
        stage_.exchange(Running::now, std::memory_order_acq_rel);
    }
    /// After serve returned `parked`. False when a resume has overtaken it: serve again.
    bool park();
    /// What is parked is counted, and goes on being so while it looks again: nobody who comes then
    /// takes its room. Until it is answered or streams.
    void hold_room();
    void give_room_back();
    /// Forgets the request, keeping what memory is worth keeping.
    void reset();
    /// Any thread: resumes it if it is parked.
    void resume_if_parked();

private:
    enum class Running : std::uint8_t { now, parked, again };

    ServerState& server_state_;
    std::atomic<Connection*> connection_{nullptr};  // asked for by abandoned(), on any thread
    Request request_;
    Address peer_;  // whose text is kept: many requests come from few addresses
    std::string peer_text_;
    std::size_t room_ = 0;  // of ServerState::held
    std::atomic<Running> stage_{Running::now};
};

/// Every exchange there is; those not in use are handed out again.
class Exchanges {
public:
    explicit Exchanges(ServerState& server_state) : server_state_(server_state) {}
    LiveExchange& take();
    void give_back(LiveExchange& exchange);
    void resume_parked();
    /// No thread serves any more. What one request keeps may resume another when it ends, so all
    /// of it ends while every exchange is there.
    void forget_all();

private:
    ServerState& server_state_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<LiveExchange>> all_;  // under mutex_
    std::vector<LiveExchange*> free_;                 // under mutex_
};

}  // namespace svc::http
