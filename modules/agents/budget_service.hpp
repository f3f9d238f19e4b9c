#pragma once

#include "modules/agents/lib/budget_lease.hpp"
#include "svc/kernel.hpp"

#include <thread>
#include <unordered_map>

namespace svc::agents {

/// The accounts of the agents that work here, and the bank they draw from: `agent_usage`
/// (docs/decisions/0012-budgets-are-drawn-in-advance.md). Any thread.
class BudgetService final : public Budgets, private BudgetStore {
public:
    explicit BudgetService(Kernel& kernel) : kernel_(kernel) {}
    ~BudgetService() override { stop(); }

    void start();
    /// Gives back what is in hand and writes down what was used.
    void stop() noexcept;

    void take(const Caller& caller, const Cost& cost) override;
    void give_back(const Uuid& principal, const Cost& cost) noexcept override;
    void report(const Caller& caller, Headers& headers) const override;

    /// What an agent may use, as its caller was worked out just now.
    void know(const Uuid& org, const Uuid& agent, const RequestBudgets& budgets);
    /// Writes down what was used since the last time.
    void settle();

private:
    using Accounts = std::vector<std::shared_ptr<BudgetLease>>;
    struct Hash {
        std::size_t operator()(const Uuid& id) const;
    };
    Drawn draw(const Uuid& org, const Uuid& agent, const Demand& demand) override;
    bool exceeded(const Uuid& org, const Uuid& agent, const Exceeded& what) noexcept override;
    std::shared_ptr<BudgetLease> find(const Uuid& agent) const;
    std::shared_ptr<BudgetLease> open(const Uuid& org, const Uuid& agent);
    Accounts all() const;
    void forget_idle();
    void tend();

    Kernel& kernel_;
    mutable std::mutex mutex_;
    std::unordered_map<Uuid, std::shared_ptr<BudgetLease>, Hash> accounts_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread tender_;
};

/// Adds the event of budgets that are used up to the kernel.
void add_budget_events(Kernel& kernel);

}  // namespace svc::agents
