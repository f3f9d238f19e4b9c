#pragma once

#include "svc/caller.hpp"
#include "svc/events.hpp"
#include "svc/failure.hpp"
#include "svc/http.hpp"
#include "svc/page.hpp"
#include "svc/tx.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace svc {

class Kernel;

/// What a caller signed in with: a Credential without the workspace, and whose it is.
struct SignIn {
    std::string authenticator;
    std::string key;
};

/// What a call waits for: what others do, whenever that is; that likewise, where whoever wakes it is
/// sure to, so that nobody looks for it meanwhile; or what is done for it alone.
enum class Awaited { others, announced, own_work };

/// Where requests carry a field.
enum class FieldPlace { body, query };

/// One run of one operation, whichever surface it came in by. Lives on the stack of the
/// thread that serves it and is never stored. A handler may be run again from the start
/// after a serialization failure, a wait, or an identity that turned out stale, so it keeps
/// its effects inside tx() and after_commit().
class Call {
public:
    virtual ~Call() = default;

    /// The verified caller; a Failure 401 when nobody has signed in.
    const Caller& caller() const;
    virtual const Caller* caller_if_any() const = 0;
    /// The workspace of the request; 404 when none was resolved.
    const Uuid& org() const;

    /// The transaction of this call: reading for GET and operations marked `reads`, else writing.
    virtual Tx& tx() = 0;

    /// The version the client expects the record to have; nothing when it did not say. Only of
    /// operations that are declared `versioned`.
    virtual std::optional<std::int64_t> expected_version() const = 0;
    /// 412 when the client expects another version than `current`.
    void require_version(std::int64_t current) const;
    /// What that is held against from here on, whatever the request says: a call that changes
    /// several records is told the version of each elsewhere.
    void expect_version(std::optional<std::int64_t> version) { expected_instead_ = version; }
    /// The client asked that lists be joined rather than replaced (Prefer: merge-properties).
    virtual bool merge_properties() const = 0;
    /// The token of the lease by which the client says it works: X-Svc-Lease, or the argument
    /// `lease_token` of an operation that is declared `under_lease`. Empty when it does not say.
    virtual std::string_view named_lease() const = 0;
    virtual const std::string& request_id() const = 0;
    virtual Surface surface() const = 0;
    /// Nothing of a caller whom a module vouches for, such as an automation.
    virtual std::optional<SignIn> sign_in() const { return std::nullopt; }
    /// The HTTP request when the call came by REST; null by MCP and Lua.
    virtual const http::Request* request() const = 0;
    /// The client's address and agent, for sessions and the audit record.
    virtual std::string_view client_address() const = 0;
    virtual std::string_view user_agent() const = 0;

    /// Adds a header to the answer; a Set-Cookie may be added several times.
    virtual void add_header(std::string_view name, std::string value) = 0;

    /// Asks the before-hooks; a Failure 409 with the hook's code when one refuses. Call it
    /// before changing anything.
    virtual void check(const Event& event) = 0;
    /// Writes the event in this transaction (no round trip of its own).
    virtual void emit(const Event& event) = 0;
    /// The same for all events of a change of many things, with a few statements for all of them.
    virtual void emit_all(const std::vector<Event>& events) {
        for (const Event& each : events) emit(each);
    }

    /// For a handler that is one statement, which reads and writes all there is and inserts its
    /// event of this kind (svc/event_row.hpp). True when COMMIT goes along with it
    /// (Tx::commit_along): the statement then asks by itself whether the caller's rights are as
    /// they are known (Caller::as_of), writes nothing when they are not, and caller_holds() is told
    /// of it. False where something has to happen between the statement and COMMIT: hooks are asked
    /// about the kind, the answer is kept for a repeat. To be asked before tx() is used.
    virtual bool goes_alone(const EventKind& kind) = 0;
    /// Whether the caller's rights are as they are known; when not, the call is run again.
    virtual void caller_holds(bool holds) = 0;
    /// Whether check() has somebody to ask about this kind.
    virtual bool has_hooks(const EventKind& kind) = 0;
    /// The event as the parameters of SVC_INSERT_EVENT; it counts as emitted.
    virtual ParamList event_row(const Event& event) = 0;

    /// Gives the events that are emitted from here on this cause, so that they are known to belong
    /// together; those of an automation keep the cause that they have.
    virtual void set_cause(const Uuid& cause) = 0;

    /// Runs once the transaction is committed, on the same thread; must not throw.
    virtual void after_commit(std::function<void()> then) = 0;

    /// Waits, without holding a worker, until somebody wakes `topic` (Kernel::wake, wake_one)
    /// and then runs the handler again. Returns when `at_most` since the call's first run is over,
    /// and at once where waiting is not possible: the call is part of a batch, the server is
    /// stopping, the request is too large to be kept, the caller has as many waiting as the setting
    /// `waits_per_principal` allows, or those that wait hold as much memory as they may.
    ///
    /// Own work will be done in a moment, so waiting for it is not counted. Where it is not
    /// possible that is a Failure: 409 `not_in_batch`, or 503. It returns only on a thread that may
    /// be held up, for it serves no requests or the server is stopping.
    void wait_for(
        std::string_view topic, std::chrono::seconds at_most, Awaited awaited = Awaited::others
    ) {
        wait_for_any({std::string(topic)}, at_most, awaited);
    }
    /// The same until somebody wakes one of the topics.
    virtual void wait_for_any(
        std::vector<std::string> topics,
        std::chrono::seconds at_most,
        Awaited awaited = Awaited::others
    ) = 0;

    /// What is done for this call alone, kept from one run of its handler to the next and let go
    /// when the call ends, whatever becomes of it. Empty at first: then it is a Failure where
    /// wait_for would be one, so that no work is begun for which nobody can wait.
    virtual std::shared_ptr<void>& own_work() = 0;

    /// What a module notes about this run of the handler, made when it is first asked for. What is
    /// rolled back is still noted.
    template <class Note>
    Note& note() {
        auto& kept = notes_[Note::name];
        if (!kept) kept = std::make_shared<Note>();
        return *static_cast<Note*>(kept.get());
    }

    /// The keys of the cursor the client sent; nothing on the first page. A cursor of another
    /// list, with other filters or of nobody's making is a 422.
    virtual std::optional<std::vector<std::string>> after(const Paging& paging) const = 0;
    /// Signs a cursor that stands after the row with these keys.
    virtual std::string cursor(const std::vector<std::string>& keys) const = 0;
    /// Makes a page of rows that were fetched with `LIMIT page_size + 1`, cut at page_bytes.
    template <class T, class Keys>
    Page<T> page(std::vector<T> rows, const Paging& paging, Keys keys_of) {
        Page<T> page{std::move(rows), std::nullopt};
        const std::size_t count = std::min({
            page.results.size(),
            static_cast<std::size_t>(paging.page_size),
            count_within_budget(page.results),
        });
        if (page.results.size() > count) {
            page.results.resize(count);
            page.next_cursor = cursor(keys_of(page.results.back()));
        }
        return page;
    }

    /// The implementation of an interface some module offers.
    template <class Service>
    Service& use() {
        return *static_cast<Service*>(find_service(Service::name));
    }
    virtual Kernel& kernel() = 0;

protected:
    virtual void* find_service(std::string_view name) = 0;

private:
    /// How many of the rows fit into a page, at least one.
    template <class T>
    std::size_t count_within_budget(const std::vector<T>& rows) {
        // As JSON rows take at most about twice what they took in the answers of the database, so
        // that nearly all pages need no measuring.
        if (tx().bytes_received() < page_bytes / 4) return rows.size();
        std::string text;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            Json<T>::write(rows[i], text);
            if (i > 0 && text.size() > page_bytes) return i;
        }
        return rows.size();
    }

    friend class InputPart;
    friend std::string loc_of(const Call& call, std::string_view path, FieldPlace place);

    std::optional<std::optional<std::int64_t>> expected_instead_;
    std::map<std::string_view, std::shared_ptr<void>> notes_;
    std::string input_part_;
};

/// While it lives, the part of the input that is being carried out: wrong_at() names places within
/// it. `path` leads there from the root, as members of a JSON array: `"leases",3`.
class InputPart {
public:
    InputPart(Call& call, std::string_view path)
        : call_(call), outer_(std::exchange(call.input_part_, std::string(path) + ',')) {}
    ~InputPart() { call_.input_part_ = std::move(outer_); }
    InputPart(const InputPart&) = delete;
    InputPart& operator=(const InputPart&) = delete;

private:
    Call& call_;
    std::string outer_;
};

/// What the `loc` of a 422 begins with: that place in a request, "arguments" of a tool or a script.
std::string_view root_of(const Call& call, FieldPlace place = FieldPlace::body);
/// The `loc` of a part of the input, as its caller sent it. `path` leads there from the root, as
/// members of a JSON array: `"parent","type"`.
std::string loc_of(
    const Call& call, std::string_view path, FieldPlace place = FieldPlace::body
);
/// A 422 about a part of the input, to which `path` leads.
Failure wrong_at(
    const Call& call,
    std::string_view path,
    std::string_view message,
    FieldPlace place = FieldPlace::body
);
/// The same about several parts, of which the first 200 are told.
struct WrongPart {
    std::string path, message;
};
Failure wrong_at(const Call& call, const std::vector<WrongPart>& parts);
/// The same about one field, by its name.
Failure wrong_field(
    const Call& call,
    std::string_view field,
    std::string_view message,
    FieldPlace place = FieldPlace::body
);

}  // namespace svc
