#pragma once

#include "modules/webhooks/disabling.hpp"
#include "modules/webhooks/lib/bodies.hpp"
#include "modules/webhooks/lines_store.hpp"
#include "modules/webhooks/webhooks.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace svc::webhooks {

/// Makes the deliveries that are due. Of all servers one at a time sends to an endpoint: the one
/// that has leased it. One thread reads and writes for all endpoints at once, another (HttpLoop)
/// sends, so that none waits for any other. What a server had under way when it ended is made once
/// more by whoever leases the endpoint next.
class Sender final : public Sending {
public:
    Sender(Kernel& kernel, const Settings& settings);
    ~Sender();

    void start();
    /// Starts no more deliveries, waits some seconds for those under way, and lets the endpoints
    /// go.
    void stop() noexcept;

    void wake(const Uuid& webhook) override;

    struct Counts {
        std::atomic<std::uint64_t> succeeded{0}, failed{0}, in_flight{0};
    };
    const Counts& counts() const { return counts_; }

private:
    using Clock = std::chrono::steady_clock;
    struct Finished {
        LineKey line;
        std::int64_t epoch = 0;  ///< of the endpoint that it was sent to
        Pending delivery;
        HttpLoop::Outcome outcome;
        bool lost = false;  ///< there is nothing to send any more
    };
    using Chosen = std::vector<std::pair<Line*, Pending>>;

    void run();
    void work();
    void wait();
    bool is_stopping();
    void rest_after(const std::exception& problem);
    void transact(const std::function<void(Tx&)>& work, Tx::Mode mode = Tx::Mode::write);

    void hear_wakes();
    void settle();
    struct Settlement;
    Settlement settlement_of(Tx& tx);
    Line* line_of(const Finished& finished);
    static void take_note(Line& line, const Line& after, const Finished& finished);
    void disable(const Line& line, const std::string& reason);
    void judge(const Settlement& settlement);
    void keep_leases();
    void take();
    void read();
    void launch();
    Chosen choose();
    struct Looked;
    Looked look_before(const Chosen& chosen);
    void put_back(Line& line);
    void begin(Line& line, const Pending& delivery);
    void send(Line& line, Pending delivery, const Bodies::Body& body);
    void give_up(Line& line, Pending delivery);
    void finish(Finished finished);
    void let_go();
    void leave();

    Kernel& kernel_;
    const Settings settings_;
    const Reach reach_;
    const Uuid lease_ = new_uuid();
    Counts counts_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Uuid> woken_;
    std::vector<Finished> finished_;
    bool stopping_ = false;

    // The thread's alone.
    std::map<LineKey, Line> lines_;
    std::map<Uuid, int> in_flight_of_;  // of each workspace
    std::vector<Finished> unsettled_;
    LineKey first_;  // whose turn it was
    std::uint64_t round_ = 0;  // counts work()
    Bodies bodies_;
    bool take_ = true, away_ = false, busy_ = false;
    Clock::time_point take_at_{}, extend_at_{};

    std::thread thread_;
    std::unique_ptr<HttpLoop> loop_;  // last: it calls what is above
};

}  // namespace svc::webhooks
