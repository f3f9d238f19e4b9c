#pragma once

#include "db/errors.hpp"
#include "db/pipeline.hpp"
#include "db/source.hpp"

namespace svc {

/// A transaction's statements, sent and unsent, and their answers.
class Tx::Impl {
public:
    Impl(db::Source& source, Mode mode);
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    std::size_t queue(const Sql& sql, Params params);
    void set_scope(const std::optional<Uuid>& org, const std::optional<Uuid>& user);
    void set_scope_to_all_orgs();
    void hold(std::string_view name);
    void commit_along() { commits_along_ = true; }
    void wait_briefly();
    void on_answers(std::function<void()> check);
    void after_commit(std::function<void()> then) { after_commit_.push_back(std::move(then)); }
    void has_to_find(std::size_t index) { locks_.push_back(index); }
    void commit();
    bool roll_back_to(const Sql& undo);

    /// The rows of a statement, sent if need be.
    const PGresult* rows(std::size_t index);
    void read(std::size_t index, std::size_t row, const Record& record, void* out);

    bool may_stand() const { return may_stand_; }
    void changed_nothing() { may_stand_ = false; }
    Mode mode() const { return mode_; }
    int round_trips() const { return round_trips_; }
    std::size_t bytes_received() const { return bytes_received_; }

private:
    /// Whom row-level security lets through.
    struct Scope {
        std::array<char, 37> org{}, user{};
        bool all_orgs = false;
    };
    struct Statement {
        Sql sql;
        Params params;
        std::uint32_t scope;  // in scopes_
        db::Answer answer;
    };
    enum class State { open, committed, failed };
    enum class Ending { none, commit };

    bool has_unsent() const { return sent_ < statements_.size(); }
    void exchange(Ending ending);
    /// Of a pipeline whose answers are waited for.
    Ending usual_ending() const {
        return commits_along_ && checks_.empty() && locks_.empty() ? Ending::commit : Ending::none;
    }
    void send(db::Pipeline& pipeline, Ending ending);
    void add_scope(db::Pipeline& pipeline, const Scope& scope);
    void run_checks();
    void require_locks();
    void refuse_if_ended() const;
    [[noreturn]] void lose(const db::Lost& lost, Ending ending);
    void check_state(Ending ending) const;
    void look_at_what_was_filled() noexcept;
    void roll_back() noexcept;
    void release() noexcept;

    db::Source& source_;
    const Mode mode_;
    db::Connection* connection_ = nullptr;
    State state_ = State::open;
    bool begun_ = false;  // BEGIN was sent and neither COMMIT nor ROLLBACK was
    bool commits_along_ = false;
    bool waits_briefly_ = false;
    bool may_stand_ = false;
    int round_trips_ = 0;
    std::size_t bytes_received_ = 0;
    std::vector<Statement> statements_;
    std::size_t sent_ = 0;
    std::vector<Scope> scopes_;
    std::uint32_t current_scope_ = 0;  // of what is queued next
    std::uint32_t server_scope_ = 0;   // what the server's transaction has
    static constexpr std::uint32_t unknown_scope = ~std::uint32_t{0};
    bool named_all_orgs_ = false;
    std::vector<std::string> holds_;  // names of locks that every transaction of this begins with
    std::vector<std::function<void()>> checks_;
    std::vector<std::function<void()>> after_commit_;
    std::vector<std::size_t> locks_;  // statements that have to find something
    std::optional<db::Pipeline::Refused> refused_;
    db::Answer committed_;
    db::Bindings late_;  // of rows that are read after the connection was given back
    std::size_t late_for_ = 0;
};

}  // namespace svc
