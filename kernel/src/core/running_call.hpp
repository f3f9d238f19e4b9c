#pragma once

#include "core/run.hpp"

namespace svc::core {

/// The Call a handler sees: one attempt at a run.
class RunningCall final : public Call {
public:
    explicit RunningCall(const Run& run);

    const Caller* caller_if_any() const override { return run_.who.caller(); }
    Tx& tx() override;
    std::optional<std::int64_t> expected_version() const override;
    bool merge_properties() const override;
    std::string_view named_lease() const override { return named_lease_; }
    const std::string& request_id() const override { return run_.request_context.request_id; }
    Surface surface() const override;
    std::optional<SignIn> sign_in() const override;
    const http::Request* request() const override { return run_.request; }
    std::string_view client_address() const override { return run_.client_address; }
    std::string_view user_agent() const override { return run_.user_agent; }
    void add_header(std::string_view name, std::string value) override;
    void check(const Event& event) override;
    void emit(const Event& event) override;
    void emit_all(const std::vector<Event>& events) override;
    bool goes_alone(const EventKind& kind) override;
    void caller_holds(bool holds) override;
    bool has_hooks(const EventKind& kind) override;
    ParamList event_row(const Event& event) override;
    void set_cause(const Uuid& cause) override { cause_ = cause; }
    void after_commit(std::function<void()> then) override;
    void wait_for_any(
        std::vector<std::string> topics, std::chrono::seconds at_most, Awaited awaited
    ) override;
    std::shared_ptr<void>& own_work() override;
    std::optional<std::vector<std::string>> after(const Paging& paging) const override;
    std::string cursor(const std::vector<std::string>& keys) const override;
    Kernel& kernel() override { return run_.kernel; }

    /// What settled_caller() of svc/guard.hpp promises.
    const Caller& settled_caller();
    /// Confirms the caller and commits; afterwards runs what waited for the commit.
    void finish();
    /// What it did may be committed (Tx::may_stand).
    bool may_stand() const { return tx_ && tx_->may_stand(); }
    /// Others have their work done in it as well (Tx::wait_briefly).
    void wait_briefly();
    /// The input before it is read; it outlives the call.
    void set_raw_input(const Input& input) { raw_input_ = &input; }
    /// The input the handler got: a cursor is bound to it.
    void set_input(const void* input) { input_ = input; }
    /// What the request says of it, if anything.
    void set_expected_version(std::optional<std::int64_t> version) { expected_version_ = version; }
    /// The same of the lease; the text outlives the call.
    void set_named_lease(std::string_view token) { named_lease_ = token; }
    /// What the handler added so far; taking it leaves none.
    std::vector<std::pair<std::string, std::string>> take_headers();

protected:
    void* find_service(std::string_view name) override;

private:
    std::unique_ptr<Tx> begin();
    bool parks_for_own_work() const;
    std::string cursor_mark(std::string_view keys) const;
    events::EventContext context_of_events() const;

    const Run& run_;
    Tx::Mode mode_;
    std::unique_ptr<Tx> tx_;
    const Input* raw_input_ = nullptr;
    const void* input_ = nullptr;
    std::optional<std::int64_t> expected_version_;
    std::string_view named_lease_;
    std::optional<Uuid> cause_;
    bool emitted_ = false;
    bool waits_briefly_ = false;
    bool alone_ = false;  // the caller is confirmed by the handler's own statement
    mutable bool merged_ = false;
    std::vector<std::pair<std::string, std::string>> headers_;
    std::vector<std::function<void()>> after_commit_;
};

}  // namespace svc::core
