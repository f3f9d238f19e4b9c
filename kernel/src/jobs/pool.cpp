#include "jobs/pool.hpp"

#include "events/wake_signal.hpp"
#include "jobs/lane.hpp"
#include "jobs/runner.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace svc::jobs {

namespace {

Poco::Logger& log() { return Poco::Logger::get("jobs"); }

/// The next UUID in their order; nil behind the last.
Uuid next_after(const Uuid& id) {
    auto bytes = id.bytes();
    for (std::size_t i = bytes.size(); i-- > 0;)
        if (++bytes[i] != 0) break;
    return Uuid(bytes);
}

}  // namespace

class Pool::Impl {
public:
    Impl(db::Database& database, const std::vector<JobKind>& kinds, const Settings& settings)
        : database_(database), settings_(settings) {
        for (const JobKind& each : kinds) lanes_.push_back(std::make_unique<Lane>(each));
        thread_ = std::thread([this] { run(); });
    }

    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            changed_.notify_all();
        }
        for (const auto& lane : lanes_)
            for (auto& each : lane->threads) each.join();
        wake_signal_.end();  // until here the leases of what still ran were extended
        thread_.join();
    }

    void wake() { wake_signal_.wake(); }

    std::map<std::string, Load> load() const {
        const std::lock_guard lock(mutex_);
        std::map<std::string, Load> out;
        for (const auto& each : lanes_)
            out[each->kind.name] = {
                each->succeeded, each->failed, static_cast<int>(each->runs().size())};
        return out;
    }

private:
    using Clock = std::chrono::steady_clock;

    // ------------------------------------------------------------------- the thread that takes

    void run() {
        bool away = false, begun = false;
        while (!wake_signal_.ended()) try {
                if (!begun) add_all_recurring();
                begun = true;
                const bool more = look();
                if (std::exchange(away, false)) log().information("jobs are taken again");
                if (!more) wake_signal_.wait(settings_.poll);
            } catch (const std::exception& problem) {
                if (!std::exchange(away, true))
                    log().warning(std::string("no jobs are taken: ") + problem.what());
                wake_signal_.rest(events::jittered(settings_.poll));
            }
    }

    void add_all_recurring() {
        database_.transact(Tx::Mode::write, [&](Tx& tx) {
            for (const auto& each : lanes_)
                if (each->kind.every) add_recurring(tx, each->kind.name, *each->kind.every);
        });
    }

    /// Takes what there is room for; whether there may be more.
    bool look() {
        extend_leases();
        if (stopping_) return false;
        const auto asked = rooms();
        const auto tx = database_.begin(Tx::Mode::write);
        tx->set_scope_to_all_orgs();
        make_ready(*tx);
        auto found = find_lines(*tx, asked.kinds, asked.from, asked.most);
        tx->commit();
        const auto lines = found.all();
        bool more = false;
        for (std::size_t i = 0; i < asked.lanes.size(); ++i) {
            std::vector<Line> of_kind;
            for (const Line& each : lines)
                if (each.kind == asked.kinds[i]) of_kind.push_back(each);
            const bool all = static_cast<std::int64_t>(of_kind.size()) < asked.most[i];
            more |= take_of(*asked.lanes[i], of_kind, all);
        }
        return more;
    }

    struct Rooms {
        std::vector<Lane*> lanes;
        std::vector<std::string> kinds;
        std::vector<Uuid> from;
        std::vector<std::int64_t> most;
    };
    /// Of which kinds more may run.
    Rooms rooms() const {
        const std::lock_guard lock(mutex_);
        Rooms out;
        for (const auto& each : lanes_) {
            if (each->room() <= 0) continue;
            out.lanes.push_back(each.get());
            out.kinds.push_back(each->kind.name);
            out.from.push_back(each->from);
            out.most.push_back(each->wanted_lines());
        }
        return out;
    }

    /// One job of each workspace, in turn; whether there may be more. `all`: behind these lines
    /// there are none.
    bool take_of(Lane& lane, const std::vector<Line>& lines, bool all) {
        bool took = false;
        for (const Line& each : lines) {
            if (is_full(lane)) {
                lane.from = each.org_id;
                return false;
            }
            if (!may_begin(lane, each.org_id)) continue;
            take_one(lane, each);
            took = true;
        }
        const Uuid from = std::exchange(lane.from, all ? Uuid{} : next_after(lines.back().org_id));
        return took || !all || !from.nil();
    }

    bool is_full(const Lane& lane) const {
        const std::lock_guard lock(mutex_);
        return lane.room() <= 0;
    }

    bool may_begin(const Lane& lane, const Uuid& org) const {
        const std::lock_guard lock(mutex_);
        return lane.may_begin(org, Clock::now());
    }

    void take_one(Lane& lane, const Line& line) {
        const Uuid lease = new_uuid();
        const auto tx = database_.begin(Tx::Mode::write);
        tx->set_scope(line.org_id, std::nullopt);
        auto taken = take(*tx, line, 1, lease, settings_.lease);
        tx->commit();
        for (Taken& each : taken.all()) {
            const Held held{line.org_id, line.kind, each.key, lease};
            if (each.attempts > lane.kind.most_attempts && !lane.kind.every)
                give_up(database_, held);
            else begin(lane, std::make_shared<Run>(lane.kind, held, std::move(each), stopping_));
        }
    }

    void begin(Lane& lane, std::shared_ptr<Run> run) {
        const std::unique_lock lock(mutex_);
        if (stopping_) return put_back(database_, *run);
        lane.begin(std::move(run));
        if (lane.idle < static_cast<int>(lane.waiting.size()) &&
            static_cast<int>(lane.threads.size()) < lane.kind.at_once)
            lane.threads.emplace_back([this, &lane] { serve(lane); });
        changed_.notify_all();
    }

    void extend_leases() {
        const auto now = Clock::now();
        if (now < extend_at_) return;
        std::vector<std::shared_ptr<Run>> runs;
        {
            const std::lock_guard lock(mutex_);
            for (const auto& lane : lanes_)
                for (const auto& [address, run] : lane->runs()) runs.push_back(run);
        }
        if (!runs.empty())
            database_.transact(Tx::Mode::write, [&](Tx& tx) { extend_all(tx, runs); });
        extend_at_ = now + settings_.lease / 3;
    }

    void extend_all(Tx& tx, const std::vector<std::shared_ptr<Run>>& runs) {
        tx.set_scope_to_all_orgs();
        std::vector<Result> answers;
        for (const auto& each : runs) answers.push_back(extend(tx, each->held(), settings_.lease));
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (answers[i].rows() == 0) runs[i]->lose();
    }

    // -------------------------------------------------------------------- the threads that run

    void serve(Lane& lane) {
        std::unique_lock lock(mutex_);
        for (;;) {
            ++lane.idle;
            changed_.wait(lock, [&] { return stopping_ || !lane.waiting.empty(); });
            --lane.idle;
            if (lane.waiting.empty()) return;
            const auto run = std::move(lane.waiting.front());
            lane.waiting.pop_front();
            lock.unlock();
            carry_out(lane, *run);
            lock.lock();
            lane.end(*run, Clock::now());
            wake_signal_.wake();
        }
    }

    void carry_out(Lane& lane, Run& run) {
        if (stopping_) return put_back(database_, run);
        const Ended ended = attempt(run);
        note(lane, run, ended);
        settle(database_, run, ended);
    }

    /// Logs the first failure of a streak, and every job that is given up.
    void note(Lane& lane, const Run& run, const Ended& ended) {
        bool first = false, again = false;
        {
            const std::lock_guard lock(mutex_);
            ++(ended.error ? lane.failed : lane.succeeded);
            const bool was = std::exchange(lane.failing, ended.error.has_value());
            first = !was && ended.error;
            again = was && !ended.error;
        }
        const std::string which = lane.kind.name + (run.key().empty() ? "" : " " + run.key());
        if (again) log().information(lane.kind.name + " works again");
        if (!ended.error) return;
        if (ended.permanent || run.last_attempt())
            log().error(which + " is given up, see `workboard jobs`: " + *ended.error);
        else if (first) log().warning(which + " is tried again: " + *ended.error);
    }

    db::Database& database_;
    const Settings settings_;
    events::WakeSignal wake_signal_;
    std::atomic<bool> stopping_{false};  // set under mutex_
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    Clock::time_point extend_at_{};
    std::thread thread_;  // last: it uses all of the above
};

Pool::Pool() : Pool(Settings()) {}
Pool::Pool(Settings settings) : settings_(settings) {}
Pool::~Pool() { stop(); }

void Pool::add(JobKind kind) {
    if (impl_) throw std::logic_error("the kind of job " + kind.name + " comes too late");
    if (std::ranges::find(kinds_, kind.name, &JobKind::name) != kinds_.end())
        throw std::logic_error("kind of job declared twice: " + kind.name);
    kinds_.push_back(std::move(kind));
}

void Pool::enqueue(Tx& tx, const JobRequest& job) {
    add_job(tx, job);
    tx.after_commit([this] { wake(); });
}

void Pool::cancel_all_of(Tx& tx, const Uuid& org) { drop_jobs_of(tx, org); }

void Pool::start(db::Database& database) {
    impl_ = std::make_unique<Impl>(database, kinds_, settings_);
    running_ = impl_.get();
}

void Pool::stop() noexcept {
    running_ = nullptr;
    impl_.reset();
}

std::size_t Pool::run_all(db::Database& database, std::string_view of_kind) {
    const auto kind = std::ranges::find(kinds_, of_kind, &JobKind::name);
    if (kind == kinds_.end()) throw std::logic_error("no kind of job: " + std::string(of_kind));
    const std::atomic<bool> stopping{false};
    database.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        if (kind->every) add_job(tx, {.kind = of_kind});
        bring_forward(tx, of_kind);
    });
    for (std::size_t runs = 0;;) {
        const Uuid lease = new_uuid();
        const auto tx = database.begin(Tx::Mode::write);
        tx->set_scope_to_all_orgs();
        const auto line = find_lines(*tx, {kind->name}, {Uuid{}}, {1}).one();
        if (!line) return runs;
        auto taken = take(*tx, *line, 1, lease, settings_.lease);
        tx->commit();
        const auto job = taken.one();
        if (!job) continue;  // somebody else has just taken it
        ++runs;
        Run run(*kind, {line->org_id, kind->name, job->key, lease}, *job, stopping);
        const Ended ended = attempt(run);
        settle(database, run, ended);
        if (ended.error) throw std::runtime_error(*ended.error);
    }
}

void Pool::wake() noexcept {
    if (Impl* here = running_) here->wake();
}

std::map<std::string, Pool::Load> Pool::load() const {
    return impl_ ? impl_->load() : std::map<std::string, Load>();
}

}  // namespace svc::jobs
