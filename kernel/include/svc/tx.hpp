#pragma once

#include "svc/types.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

/// One database transaction and its statements.
///
/// Statements are `constexpr Sql` beside the one function that uses them; they are
/// prepared once per connection and kept. A Tx gathers what it is given and sends it as
/// one pipeline when an answer is needed, so `queue` and `later` cost no round trip of
/// their own.
namespace svc {

/// A statement and the name it carries in logs, metrics and errors. Both texts must have
/// static storage: the address of `text` identifies the prepared statement.
struct Sql {
    std::string_view name;
    std::string_view text;
};

/// Texts one behind the other, in static storage: for statements that differ in parts.
template <const std::string_view&... Part>
struct SqlText {
    static constexpr auto text = [] {
        std::array<char, (Part.size() + ...)> out{};
        char* end = out.data();
        ((end = std::copy(Part.begin(), Part.end(), end)), ...);
        return out;
    }();
    static constexpr std::string_view view{text.data(), text.size()};
};

/// Parameters that stand side by side in a statement, as text.
struct ParamList {
    std::vector<std::optional<std::string>> values;
};

/// A statement's parameters in PostgreSQL's text form.
class Params {
public:
    Params();
    void add(std::nullptr_t);
    void add(bool flag);
    void add(std::int64_t number);
    void add(int number) { add(std::int64_t{number}); }
    void add(double number);
    void add(std::string_view text);
    void add(const std::string& text) { add(std::string_view(text)); }
    void add(const char* text) { add(std::string_view(text)); }
    void add(const Uuid& id);
    void add(const Timestamp& time);
    void add(const JsonText& value) { add(std::string_view(value.text)); }
    void add(std::chrono::seconds interval);        ///< an interval
    void add(std::span<const std::uint8_t> bytes);  ///< a bytea
    template <class Format>
    void add(const Text<Format>& text) {
        add(std::string_view(text.str()));
    }
    template <class T>
    void add(const std::optional<T>& maybe) {
        if (maybe) add(*maybe);
        else add(nullptr);
    }
    template <class T>
    requires std::is_enum_v<T>
    void add(T each) { add(name_of(each)); }
    void add(const ParamList& list) {
        for (const auto& each : list.values) add(each);
    }
    /// A list goes as an array literal; a described struct goes as json.
    void add(const std::vector<Uuid>& ids);
    void add(const std::vector<std::string>& texts);
    template <Described T>
    void add(const T& record) {
        add(std::string_view(to_json(record)));
    }

    std::size_t count() const { return ends_.size(); }
    /// Values as libpq takes them; valid until the next add().
    std::span<const char* const> values() const;

private:
    void close();

    std::string bytes_;              // values, each closed by a NUL
    std::vector<std::size_t> ends_;  // where each value ends; npos marks null
    mutable std::vector<const char*> view_;
};

/// A constraint that a statement ran into, for handlers that know what it means.
/// Kinds other than these end the request as a 500 or 503.
class ConstraintError : public std::runtime_error {
public:
    enum class Kind { unique, foreign_key, check, exclusion };
    ConstraintError(Kind kind, std::string constraint, const std::string& message);
    Kind kind() const { return kind_; }
    const std::string& constraint() const { return constraint_; }

private:
    Kind kind_;
    std::string constraint_;
};

/// The transaction should be run again from the start: a serialization failure, a deadlock, a
/// connection lost where a repeat is safe, or a row gone that was there. The kernel does so.
class RetryTransaction : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Tx;

/// The rows of a statement that has been queued; reading them sends what is queued and waits.
/// Valid as long as its Tx.
class Result {
public:
    /// Row count; waits.
    std::size_t rows();
    /// Rows inserted, updated or deleted; waits.
    std::size_t affected();
    Cell at(std::size_t row, std::size_t column);
    /// Fills `out` from a row, columns matched to fields by name. Every field that is not
    /// an Object<…> discriminator needs a column; columns without a field are ignored.
    void read(std::size_t row, const Record& record, void* out);

private:
    friend class Tx;
    Result(Tx& tx, std::size_t index) : tx_(&tx), index_(index) {}
    Tx* tx_;
    std::size_t index_;
};

template <Described Row>
class DeferredRows {
public:
    explicit DeferredRows(Result result) : result_(result) {}
    std::vector<Row> all() {
        std::vector<Row> rows(result_.rows());
        for (std::size_t i = 0; i < rows.size(); ++i) result_.read(i, record_of<Row>(), &rows[i]);
        return rows;
    }
    /// The first row, if there is one.
    std::optional<Row> one() {
        if (result_.rows() == 0) return std::nullopt;
        std::optional<Row> row(std::in_place);
        result_.read(0, record_of<Row>(), &*row);
        return row;
    }

    /// The first row, where one is certain unless somebody removes it at this moment: then
    /// RetryTransaction, and the handler runs anew on what is left.
    Row one_or_retry() {
        auto row = one();
        if (!row) throw RetryTransaction("a row that was there is gone");
        return *std::move(row);
    }

private:
    Result result_;
};

/// One transaction on a pooled connection, used by one thread at a time.
///
/// A reading transaction sends each pipeline as one implicit transaction: one round trip.
/// A writing one opens with BEGIN in its first pipeline; commit() sends what is queued
/// and COMMIT in one more. The connection is taken at the first send. Destroying a Tx that
/// was not committed rolls back.
///
/// Errors: a constraint is a ConstraintError; a serialization failure or a deadlock makes
/// the kernel run the whole handler again (three times at most); a lost connection is
/// retried once when nothing was sent or the batch only read, and is otherwise a 503.
class Tx {
public:
    enum class Mode { read, write };

    template <Described Row, class... Arg>
    std::vector<Row> all(const Sql& sql, const Arg&... arg) {
        return later<Row>(sql, arg...).all();
    }
    template <Described Row, class... Arg>
    std::optional<Row> one(const Sql& sql, const Arg&... arg) {
        return later<Row>(sql, arg...).one();
    }
    /// Runs now; how many rows it touched.
    template <class... Arg>
    std::size_t run(const Sql& sql, const Arg&... arg) {
        return queue(sql, arg...).affected();
    }
    /// Sends the statement with the next pipeline.
    template <Described Row, class... Arg>
    DeferredRows<Row> later(const Sql& sql, const Arg&... arg) {
        return DeferredRows<Row>(queue(sql, arg...));
    }
    template <class... Arg>
    Result queue(const Sql& sql, const Arg&... arg) {
        Params params;
        (params.add(arg), ...);
        return send(sql, std::move(params));
    }
    Result send(const Sql& sql, Params params);
    /// Queues a statement that locks what the caller has a right to. If it finds nothing, what
    /// comes after it is to be refused; where that is not so, for the right was given in between,
    /// commit() throws RetryTransaction.
    template <class... Arg>
    void lock(const Sql& sql, const Arg&... arg) {
        has_to_find(queue(sql, arg...));
    }

    /// Holds the advisory lock of that name, shared, from before the next statement until the
    /// transaction ends; taken by the statement that says for whom it acts.
    void hold(std::string_view name);

    /// From here on, rather than to wait for a lock for longer than a tenth of a second, it throws
    /// RetryTransaction: for a transaction in which several have their work done, each of whom can
    /// have it done in another.
    void wait_briefly();

    /// From here on COMMIT goes along with every pipeline: for a transaction that is one statement,
    /// which writes nothing unless all that it rests on holds. Nothing may hang on its answer but
    /// the answer itself.
    void commit_along();

    /// The workspace and the person that row-level security admits in this transaction; goes
    /// out in front of the next statement. See docs/tenancy.md for the policies.
    void set_scope(const std::optional<Uuid>& org, const std::optional<Uuid>& user);
    /// Admits every workspace: for the kernel's own jobs, never for a request.
    void set_scope_to_all_orgs();

    /// Runs right after the next pipeline's answers arrive and before anybody reads them.
    /// What it throws ends the transaction.
    void on_answers(std::function<void()> check);

    /// Runs once everything is committed, and the connection given back; never when it is not. It
    /// throws nothing.
    void after_commit(std::function<void()> then);

    /// Undoes what was done since the statement SAVEPOINT that `undo`, a ROLLBACK TO SAVEPOINT,
    /// names, also when a statement failed since: a Tx in which that happened can do nothing else.
    /// False when this is not possible; the Tx is then of no use any more.
    bool roll_back_to(const Sql& undo);

    Mode mode() const;
    /// Sends everything queued and, when writing, COMMIT. Throws when the commit failed.
    void commit();
    /// A COMMIT was carried out, or went out and its answer was lost: what was done by then is not
    /// to be done again.
    bool may_stand() const;
    /// What was committed so far changed nothing that would be in the way of doing it again, as the
    /// answers say.
    void changed_nothing();
    /// Round trips so far, for metrics and tests.
    int round_trips() const;
    /// How much memory the answers so far have taken.
    std::size_t bytes_received() const;

    class Impl;
    explicit Tx(std::unique_ptr<Impl> impl);
    ~Tx();
    Tx(const Tx&) = delete;
    Tx& operator=(const Tx&) = delete;

private:
    friend class Result;
    void has_to_find(Result result);
    std::unique_ptr<Impl> impl_;
};

}  // namespace svc
