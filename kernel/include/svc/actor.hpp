#pragma once

#include "svc/kernel.hpp"

namespace svc {

/// Who makes a change, and how it becomes known: a request, or a job.
class Actor {
public:
    virtual ~Actor() = default;
    virtual PrincipalRef who() const = 0;
    virtual void check(const Event& event) = 0;
    virtual void emit(const Event& event) = 0;
    virtual void emit_all(const std::vector<Event>& events) {
        for (const Event& each : events) emit(each);
    }
    virtual void after_commit(std::function<void()> then) = 0;
};

class CallActor final : public Actor {
public:
    explicit CallActor(Call& call) : call_(call) {}
    PrincipalRef who() const override { return ref_of(call_.caller()); }
    void check(const Event& event) override { call_.check(event); }
    void emit(const Event& event) override { call_.emit(event); }
    void emit_all(const std::vector<Event>& events) override { call_.emit_all(events); }
    void after_commit(std::function<void()> then) override { call_.after_commit(std::move(then)); }

private:
    Call& call_;
};

/// A job: a change that nobody asked for but time.
class JobActor final : public Actor {
public:
    JobActor(Tx& tx, const Uuid& org, std::string_view action)
        : tx_(tx), org_(org), action_(action) {}
    PrincipalRef who() const override {
        return {{}, {}, PrincipalType::system, std::string(action_)};
    }
    void check(const Event&) override {}
    void emit(const Event& event) override { emit_as_system(tx_, org_, action_, event); }
    void after_commit(std::function<void()> then) override { then_.push_back(std::move(then)); }
    /// What is to be called once the transaction is committed.
    std::vector<std::function<void()>> after() { return std::move(then_); }

private:
    Tx& tx_;
    const Uuid org_;
    std::string_view action_;
    std::vector<std::function<void()>> then_;
};

}  // namespace svc
