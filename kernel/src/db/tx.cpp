#include "db/tx_impl.hpp"

#include "db/errors.hpp"

#include <Poco/Logger.h>

#include <time.h>

#include <charconv>
#include <cstring>

namespace svc {

using namespace db;

namespace {

constexpr Sql begin{"db.begin", "BEGIN"};
constexpr Sql commit_it{"db.commit", "COMMIT"};
constexpr Sql rollback{"db.rollback", "ROLLBACK"};
constexpr Sql bound_waiting{"db.wait_briefly", "SET LOCAL lock_timeout = 100"};  // ms
constexpr Sql analyze{"db.analyze", "SELECT svc_analyze($1, $2)"};

// One row without columns: nobody reads it.
constexpr Sql write_scope{"db.set_scope", R"(
    SELECT WHERE set_config('app.org_id', $1, true) IS NOT NULL
             AND set_config('app.user_id', $2, true) IS NOT NULL)"};
constexpr Sql write_scope_and_reach{"db.set_scope_to_all_orgs", R"(
    SELECT WHERE set_config('app.org_id', $1, true) IS NOT NULL
             AND set_config('app.user_id', $2, true) IS NOT NULL
             AND set_config('app.all_orgs', $3, true) IS NOT NULL)"};

// Locks first: what is read afterwards was committed before they were had.
constexpr Sql write_scope_and_hold{"db.set_scope_and_hold", R"(
    SELECT pg_advisory_xact_lock_shared(hashtextextended($3, 0)),
        pg_advisory_xact_lock_shared(hashtextextended($4, 0))
    WHERE set_config('app.org_id', $1, true) IS NOT NULL
        AND set_config('app.user_id', $2, true) IS NOT NULL)"};
constexpr Sql take_lock{"db.hold", R"(
    SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0)))"};
constexpr std::size_t most_holds = 2;

constexpr std::size_t longest_list = 300;  // bytes of statements' names in a line of the log

/// Good to a few milliseconds, which is enough to know a slow statement, and five times as cheap.
std::chrono::nanoseconds rough_time() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::size_t number_in(std::string_view text) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

void print(const std::optional<Uuid>& id, std::array<char, 37>& out) {
    if (!id) return;
    std::memcpy(out.data(), id->str().data(), out.size() - 1);
}

}  // namespace

Tx::Impl::Impl(Source& source, Mode mode) : source_(source), mode_(mode), scopes_(1) {
    statements_.reserve(4);
}

Tx::Impl::~Impl() {
    if (begun_) roll_back();
    release();
}

std::size_t Tx::Impl::queue(const Sql& sql, Params params) {
    refuse_if_ended();
    statements_.push_back({sql, std::move(params), current_scope_, {}});
    return statements_.size() - 1;
}

void Tx::Impl::set_scope(const std::optional<Uuid>& org, const std::optional<Uuid>& user) {
    Scope scope;
    print(org, scope.org);
    print(user, scope.user);
    current_scope_ = static_cast<std::uint32_t>(scopes_.size());
    scopes_.push_back(scope);
}

void Tx::Impl::set_scope_to_all_orgs() {
    named_all_orgs_ = true;
    current_scope_ = static_cast<std::uint32_t>(scopes_.size());
    scopes_.push_back({{}, {}, true});
}

void Tx::Impl::hold(std::string_view name) {
    const bool is_due = current_scope_ != server_scope_ && !named_all_orgs_ && !has_unsent();
    if (is_due && holds_.size() < most_holds) {
        holds_.emplace_back(name);
        return;
    }
    Params params;
    params.add(name);
    queue(take_lock, std::move(params));
}

void Tx::Impl::wait_briefly() {
    waits_briefly_ = true;
    if (begun_) queue(bound_waiting, {});
}

void Tx::Impl::on_answers(std::function<void()> check) { checks_.push_back(std::move(check)); }

void Tx::Impl::require_locks() {
    for (const std::size_t each : locks_)
        if (PQntuples(rows(each)) == 0)
            throw RetryTransaction("what was to be locked was not to be had");
}

void Tx::Impl::commit() {
    refuse_if_ended();
    require_locks();
    // Nothing is committed before every check has passed.
    if (!checks_.empty()) {
        if (has_unsent()) exchange(Ending::none);
        else run_checks();
    }
    if (mode_ == Mode::write && (begun_ || has_unsent())) {
        exchange(Ending::commit);
    } else if (has_unsent()) exchange(Ending::none);
    state_ = State::committed;
    release();
    for (const auto& then : after_commit_) then();
}

bool Tx::Impl::roll_back_to(const Sql& undo) {
    // A lock that was undone need not have found anything: what it was for may have been refused.
    const auto since = std::find_if(statements_.rbegin(), statements_.rend(), [](const auto& each) {
        return std::string_view(each.sql.text).starts_with("SAVEPOINT");
    });
    std::erase_if(locks_, [&](std::size_t each) {
        return each >= static_cast<std::size_t>(statements_.rend() - since);
    });
    // What the server was told since the savepoint of whom we act for is undone with the rest.
    const auto renew_scope = [&] {
        const Scope scope = scopes_[current_scope_];
        current_scope_ = static_cast<std::uint32_t>(scopes_.size());
        scopes_.push_back(scope);
    };
    if (state_ == State::open) {
        queue(undo, {});
        renew_scope();
        return true;
    }
    const bool stands = connection_ && begun_ && !connection_->lost() &&
                        PQtransactionStatus(connection_->native()) == PQTRANS_INERROR;
    if (state_ != State::failed || !stands) return false;
    try {
        Pipeline pipeline(*connection_);
        pipeline.add(undo, {}, nullptr);
        ++round_trips_;
        if (pipeline.exchange()) return false;
    } catch (const Lost&) {
        return false;
    }
    if (PQtransactionStatus(connection_->native()) != PQTRANS_INTRANS) return false;
    state_ = State::open;
    refused_.reset();
    checks_.clear();
    sent_ = statements_.size();  // what was queued behind the failure is undone unsent
    server_scope_ = unknown_scope;
    return true;
}

void Tx::Impl::exchange(Ending ending) {
    refuse_if_ended();
    if (!connection_) connection_ = &source_.take(mode_);
    // A throw on the way, of whatever kind, ends the transaction.
    state_ = State::failed;
    const bool stood = may_stand_;
    may_stand_ |= mode_ == Mode::write && ending == Ending::commit;
    const auto since = rough_time();
    Pipeline pipeline(*connection_);
    try {
        send(pipeline, ending);
    } catch (const Lost& lost) {
        lose(lost, ending);
    } catch (...) {
        connection_->lose();  // half a pipeline may be on its way
        throw;
    }
    // A session may be ended when its COMMIT is done and before it says so.
    if (refused_ && !ends_session(refused_->error.get())) may_stand_ = stood;
    const auto took = rough_time() - since;
    if (took > source_.settings().slow)
        Poco::Logger::get("db").warning(
            "slow: " + pipeline.names(longest_list) + " took " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
            " ms"
        );
    // A refusal may be news to a caller whose rights have changed since; the checks come first.
    run_checks();
    if (refused_ && waits_briefly_ && waited_too_long(refused_->error.get()))
        throw RetryTransaction("what was to be locked is another's just now");
    if (refused_) throw_error(refused_->error.get(), refused_->sql.name);
    check_state(ending);
    state_ = State::open;
    if (ending == Ending::commit) look_at_what_was_filled();
}

void Tx::Impl::send(Pipeline& pipeline, Ending ending) {
    if (mode_ == Mode::write && !begun_) {
        pipeline.add(begin, {}, nullptr);
        if (waits_briefly_) pipeline.add(bound_waiting, {}, nullptr);
        begun_ = true;
    }
    // In reading mode each pipeline is a transaction of its own, and settings end with it.
    if (mode_ == Mode::read) server_scope_ = 0;
    const std::size_t first = sent_;
    for (; has_unsent(); ++sent_) {
        Statement& statement = statements_[sent_];
        if (statement.scope != server_scope_) {
            add_scope(pipeline, scopes_[statement.scope]);
            server_scope_ = statement.scope;
        }
        pipeline.add(statement.sql, statement.params.values(), &statement.answer);
    }
    if (ending == Ending::commit) pipeline.add(commit_it, {}, &committed_);
    ++round_trips_;
    refused_ = pipeline.exchange();
    for (std::size_t i = first; i < sent_; ++i)
        if (const PGresult* result = statements_[i].answer.result.get())
            bytes_received_ += PQresultMemorySize(result);
    if (ending == Ending::commit && !refused_) {
        begun_ = false;
        server_scope_ = 0;  // its settings ended with it
    }
}

void Tx::Impl::add_scope(Pipeline& pipeline, const Scope& scope) {
    const std::array values{scope.org.data(), scope.user.data(), scope.all_orgs ? "on" : ""};
    const std::span<const char* const> all(values);
    if (named_all_orgs_) pipeline.add(write_scope_and_reach, all, nullptr);
    else if (!holds_.empty()) {
        const std::array with_holds{
            values[0],
            values[1],
            holds_.front().c_str(),
            holds_.size() > 1 ? holds_[1].c_str() : nullptr};
        pipeline.add(write_scope_and_hold, with_holds, nullptr);
    } else pipeline.add(write_scope, all.first(2), nullptr);
}

void Tx::Impl::run_checks() {
    // A check may ask for rows, which are here, or queue statements, which are not sent for it.
    const auto checks = std::exchange(checks_, {});
    const State before = std::exchange(state_, State::open);
    try {
        for (const auto& check : checks) check();
    } catch (...) {
        state_ = State::failed;
        throw;
    }
    state_ = before;
}

void Tx::Impl::refuse_if_ended() const {
    if (state_ == State::open) return;
    throw std::logic_error(
        state_ == State::committed ? "the transaction is committed; begin another"
                                   : "the transaction has failed; nothing more can be done in it"
    );
}

void Tx::Impl::lose(const Lost& lost, Ending ending) {
    begun_ = false;
    const std::string why = lost.what();
    // When the server goes, all connections go with it: the first says it.
    static std::atomic<std::chrono::steady_clock::duration> said{};
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    if (now - said.exchange(now) > std::chrono::seconds(10))
        Poco::Logger::get("db").warning("connection lost: " + why);
    // What only read may be read again. A write that had not come to its COMMIT is undone, and
    // whoever asked for it decides about another; whether a COMMIT arrived nobody knows.
    if (mode_ == Mode::read) throw RetryTransaction("connection lost: " + why);
    throw unavailable(
        ending == Ending::commit
            ? "The connection to the database broke; whether the change was made is not known."
            : "The connection to the database broke; nothing was changed."
    );
}

void Tx::Impl::check_state(Ending ending) const {
    if (mode_ == Mode::read) return;
    if (ending == Ending::none) {
        if (PQtransactionStatus(connection_->native()) == PQTRANS_INTRANS) return;
        throw std::logic_error("a statement has ended the transaction that it ran in");
    }
    // COMMIT of a transaction that has failed reports success, as a ROLLBACK.
    if (std::strcmp(PQcmdStatus(committed_.result.get()), "COMMIT") == 0) return;
    throw std::runtime_error("the transaction was rolled back instead of committed");
}

/// Before the next one asks, so that it is not answered by plans for what was there before.
void Tx::Impl::look_at_what_was_filled() noexcept {
    Growth* growth = source_.growth();
    if (!growth) return;
    try {
        bool due = false;
        for (const Statement& each : statements_)
            if (PGresult* result = each.answer.result.get())
                due = growth->note(each.sql, number_in(PQcmdTuples(result))) || due;
        if (!due) return;
        for (const auto& [table, rows] : growth->take()) {
            Params params;
            params.add(table);
            params.add(static_cast<std::int64_t>(rows));
            db::Answer answer;
            Pipeline pipeline(*connection_);
            pipeline.add(analyze, params.values(), &answer);
            if (const auto refused = pipeline.exchange())
                throw_error(refused->error.get(), analyze.name);
            growth->learn(table, number_in(PQgetvalue(answer.result.get(), 0, 0)));
        }
    } catch (const Lost&) {
    } catch (const std::exception& problem) {  // the work is done; this can wait
        Poco::Logger::get("db").warning(problem.what());
    }
}

void Tx::Impl::roll_back() noexcept {
    if (!connection_ || connection_->lost()) return;
    if (PQtransactionStatus(connection_->native()) == PQTRANS_IDLE) return;  // COMMIT failed
    try {
        Pipeline pipeline(*connection_);
        pipeline.add(rollback, {}, nullptr);
        if (pipeline.exchange()) connection_->lose();
    } catch (const std::exception&) {
        connection_->lose();
    }
}

void Tx::Impl::release() noexcept {
    if (!connection_) return;
    // Nobody may inherit a transaction that a statement began or left by itself.
    if (PQtransactionStatus(connection_->native()) != PQTRANS_IDLE) connection_->lose();
    source_.give(*std::exchange(connection_, nullptr));
}

const PGresult* Tx::Impl::rows(std::size_t index) {
    if (index >= sent_) exchange(usual_ending());
    if (const PGresult* result = statements_[index].answer.result.get()) return result;
    if (refused_) throw_error(refused_->error.get(), refused_->sql.name);
    throw std::logic_error(std::string(statements_[index].sql.name) + ": there is no answer");
}

void Tx::Impl::read(std::size_t index, std::size_t row, const Record& record, void* out) {
    const PGresult* result = rows(index);
    const Statement& statement = statements_[index];
    const std::string_view name = statement.sql.name;
    if (row >= static_cast<std::size_t>(PQntuples(result)))
        throw std::out_of_range(std::string(name) + ": there is no such row");
    if (!connection_ && std::exchange(late_for_, index) != index) late_.clear();
    // The connection's own bindings are another thread's once it has been given back.
    Bindings& bindings = connection_ ? statement.answer.prepared->bindings : late_;
    bindings.of(record, result, name).read(result, static_cast<int>(row), out, name);
}

// ------------------------------------------------------------ the public face

Tx::Tx(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tx::~Tx() = default;

Result Tx::send(const Sql& sql, Params params) {
    return Result(*this, impl_->queue(sql, std::move(params)));
}
void Tx::set_scope(const std::optional<Uuid>& org, const std::optional<Uuid>& user) {
    impl_->set_scope(org, user);
}
void Tx::set_scope_to_all_orgs() { impl_->set_scope_to_all_orgs(); }
void Tx::has_to_find(Result result) { impl_->has_to_find(result.index_); }
void Tx::after_commit(std::function<void()> then) { impl_->after_commit(std::move(then)); }
void Tx::hold(std::string_view name) { impl_->hold(name); }
void Tx::commit_along() { impl_->commit_along(); }
void Tx::wait_briefly() { impl_->wait_briefly(); }
void Tx::on_answers(std::function<void()> check) { impl_->on_answers(std::move(check)); }
bool Tx::roll_back_to(const Sql& undo) { return impl_->roll_back_to(undo); }
Tx::Mode Tx::mode() const { return impl_->mode(); }
void Tx::commit() { impl_->commit(); }
int Tx::round_trips() const { return impl_->round_trips(); }
bool Tx::may_stand() const { return impl_->may_stand(); }
void Tx::changed_nothing() { impl_->changed_nothing(); }
std::size_t Tx::bytes_received() const { return impl_->bytes_received(); }

std::size_t Result::rows() { return static_cast<std::size_t>(PQntuples(tx_->impl_->rows(index_))); }

std::size_t Result::affected() {
    return number_in(PQcmdTuples(const_cast<PGresult*>(tx_->impl_->rows(index_))));
}

Cell Result::at(std::size_t row, std::size_t column) {
    const PGresult* result = tx_->impl_->rows(index_);
    if (row >= static_cast<std::size_t>(PQntuples(result)) ||
        column >= static_cast<std::size_t>(PQnfields(result)))
        throw std::out_of_range("there is no such row or column");
    const auto r = static_cast<int>(row), c = static_cast<int>(column);
    return {
        PQgetvalue(result, r, c),
        static_cast<std::size_t>(PQgetlength(result, r, c)),
        PQgetisnull(result, r, c) != 0};
}

void Result::read(std::size_t row, const Record& record, void* out) {
    tx_->impl_->read(index_, row, record, out);
}

}  // namespace svc
