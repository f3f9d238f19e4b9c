#pragma once

#include "jobs/pool.hpp"
#include "tests/unit/events/events_fixture.hpp"

#include <map>

namespace svc::test {

using jobs::Pool;

/// A database and what the jobs in it have done.
class JobsFixture : public EventsFixture {
public:
    static constexpr Pool::Settings brisk{.poll = 10ms, .lease = 600ms};

    void enqueue(Pool& pool, const JobRequest& job) {
        database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(job.org, std::nullopt);
            pool.enqueue(tx, job);
        });
    }
    /// As someone else's server asks for it, which wakes nobody here.
    void insert(const std::string& kind, const Uuid& org, const std::string& key) const {
        ask("INSERT INTO jobs (org_id, kind, key, state) VALUES ('" + org.str() + "', '" + kind +
            "', '" + key + "', 'ready')");
    }
    std::string jobs(const std::string& what, const std::string& where = "true") const {
        return ask(
            "SELECT coalesce(string_agg((" + what +
            ")::text, ' ' ORDER BY kind, key), '')"
            " FROM jobs WHERE " +
            where
        );
    }
    bool done() const { return ask("SELECT count(*) FROM jobs") == "0"; }
};

/// What runs said, by any thread, in the order of saying.
class Said {
public:
    void add(const std::string& text) {
        const std::lock_guard lock(mutex_);
        all_.push_back(text);
    }
    std::vector<std::string> all() const {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    std::size_t size() const { return all().size(); }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> all_;
};

/// Done at the first attempt, or tried again soon.
inline JobKind kind_that(const std::string& name, std::function<void(JobRun&)> work) {
    return {
        .name = name,
        .run =
            [work = std::move(work)](JobRun& run) {
                work(run);
                return JobOutcome::done;
            },
        .pause = 10ms,
        .longest_pause = 40ms,
    };
}

}  // namespace svc::test
