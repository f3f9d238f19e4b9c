#pragma once

#include "svc/call.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace svc::test {

/// A call that can be asked about nothing but its caller: without a request, a transaction or a
/// kernel. Whatever it is told goes nowhere.
class BareCall : public Call {
public:
    BareCall() = default;
    explicit BareCall(Caller caller) : caller_(std::move(caller)) {}

    const Caller* caller_if_any() const override { return caller_ ? &*caller_ : nullptr; }
    Tx& tx() override { throw std::logic_error("no transaction"); }
    std::optional<std::int64_t> expected_version() const override { return std::nullopt; }
    bool merge_properties() const override { return false; }
    std::string_view named_lease() const override { return {}; }
    const std::string& request_id() const override { return request_id_; }
    Surface surface() const override { return Surface::mcp; }
    const http::Request* request() const override { return nullptr; }
    std::string_view client_address() const override { return "127.0.0.1"; }
    std::string_view user_agent() const override { return {}; }
    void add_header(std::string_view, std::string) override {}
    void check(const Event&) override {}
    void emit(const Event&) override {}
    bool goes_alone(const EventKind&) override { return false; }
    void caller_holds(bool) override {}
    bool has_hooks(const EventKind&) override { return false; }
    ParamList event_row(const Event&) override { return {}; }
    void set_cause(const Uuid&) override {}
    void after_commit(std::function<void()>) override {}
    void wait_for_any(std::vector<std::string>, std::chrono::seconds, Awaited) override {}
    std::shared_ptr<void>& own_work() override { return own_work_; }
    std::optional<std::vector<std::string>> after(const Paging&) const override {
        return std::nullopt;
    }
    std::string cursor(const std::vector<std::string>&) const override { return {}; }
    Kernel& kernel() override { throw std::logic_error("no kernel"); }

protected:
    void* find_service(std::string_view) override { return nullptr; }

private:
    std::optional<Caller> caller_;
    std::string request_id_ = "the same for all";
    std::shared_ptr<void> own_work_;
};

}  // namespace svc::test
