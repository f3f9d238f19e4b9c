#pragma once

#include "jobs/store.hpp"
#include "svc/jobs.hpp"

#include <atomic>
#include <chrono>

namespace svc::jobs {

/// A job under way. Its handler's thread uses it; the pool's thread may say that its lease is lost.
class Run final : public JobRun {
public:
    using Clock = std::chrono::steady_clock;

    Run(const JobKind& kind, Held held, Taken taken, const std::atomic<bool>& stopping)
        : kind_(kind), held_(std::move(held)), taken_(std::move(taken)), stopping_(stopping) {}

    const Uuid& org() const override { return held_.org_id; }
    const std::string& key() const override { return held_.key; }
    const std::string& payload() const override { return taken_.payload; }
    std::int64_t attempt() const override { return taken_.attempts; }
    bool last_attempt() const override {
        return !kind_.every && taken_.attempts >= kind_.most_attempts;
    }
    bool should_yield() const override {
        return stopping_ || lost_ || Clock::now() - begun_ > kind_.slice;
    }
    void complete(Tx& tx) override {
        require_end(tx, held_, kind_.every);
        tx.after_commit([this] { completed_ = true; });
    }

    const JobKind& kind() const { return kind_; }
    Clock::time_point begun() const { return begun_; }
    const Held& held() const { return held_; }
    bool completed() const { return completed_; }
    void lose() { lost_ = true; }

private:
    const JobKind& kind_;
    const Held held_;
    const Taken taken_;
    const std::atomic<bool>& stopping_;
    const Clock::time_point begun_ = Clock::now();
    std::atomic<bool> lost_{false};
    bool completed_ = false;
};

}  // namespace svc::jobs
