#pragma once

#include "db/database.hpp"
#include "svc/jobs.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <vector>

namespace svc::jobs {

/// Does the jobs of all workspaces, as one of the servers on a database: one thread takes them,
/// others run them. Of each kind some run at a time, and of a workspace some of these; workspaces
/// take turns. A kind has its own threads, so none waits for another.
class Pool final : public Jobs {
public:
    struct Settings {
        std::chrono::milliseconds poll{1'000};  ///< for what other servers ask for
        /// A server that is gone is thought so after this. Leases are extended three times as
        /// often.
        std::chrono::milliseconds lease{30'000};
    };

    Pool();
    explicit Pool(Settings settings);
    ~Pool() override;

    void add(JobKind kind) override;
    void enqueue(Tx& tx, const JobRequest& job) override;
    void cancel_all_of(Tx& tx, const Uuid& org) override;

    /// Begins to take jobs. No kind may be added any more.
    void start(db::Database& database);
    /// Takes no more; runs that are under way are asked to yield, and waited for.
    void stop() noexcept;

    /// Does what there is of a kind, due or not, on this thread and one by one: for tests that
    /// start no server. How many runs there were; throws what the last of them threw.
    std::size_t run_all(db::Database& database, std::string_view kind);

    struct Load {
        std::uint64_t succeeded = 0, failed = 0;  ///< runs on this server
        int running = 0;
    };
    std::map<std::string, Load> load() const;
    const std::vector<JobKind>& kinds() const { return kinds_; }

private:
    class Impl;
    void wake() noexcept;

    const Settings settings_;
    std::vector<JobKind> kinds_;
    std::unique_ptr<Impl> impl_;  // written on the main thread while nothing runs
    std::atomic<Impl*> running_{nullptr};
};

}  // namespace svc::jobs
