#pragma once

#include "core/admission.hpp"
#include "core/budget_charge.hpp"
#include "core/caller_resolver.hpp"
#include "core/request_groups.hpp"
#include "core/wait_queue.hpp"
#include "events/log.hpp"
#include "http/server.hpp"

#include <chrono>

/// Running operations: the order of checks, the transaction, the repeats.
namespace svc::core {

/// What a request that waits for others may hold: enough for any that means to wait.
constexpr std::size_t most_kept_bytes = 16 << 10;

/// What a request keeps over its waits.
struct RequestContext {
    std::string request_id;
    std::size_t endpoint = 0;  ///< its number
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    std::uint64_t ticket = 0;  ///< of WaitQueue, from before the present run looked at anything
    WaitQueue::Place place{};
    Admission::Place turn{};
    bool has_waited = false;    ///< for something, after it had its turn
    std::size_t bytes = 0;      ///< that are held while it waits
    bool room_to_wait = false;  ///< for these, besides what all others hold
    int round_trips = 0;
    /// Requests the caller's budgets are to be charged for, and those they were: a message may
    /// hold several calls, and a call that waited is run again.
    std::int64_t requests_due = 1, requests_paid = 0;
    std::shared_ptr<void> own_work{};   ///< of the call that the request is, or holds
    Waiter waiter{};                    ///< once it is parked
    RequestGroups::MemberPtr member{};  ///< while it may be served with others
    Charge charge{};                    ///< what its caller was charged for it when it joined them
};

/// Everything one run of an operation works with. The references outlive it.
struct Run {
    Kernel& kernel;
    const Operation& operation;
    CallerResolver& who;
    RequestContext& request_context;
    Surface surface;
    const http::Request* request = nullptr;  ///< null when it did not come by REST
    std::string_view client_address{};
    std::string_view user_agent{};
    bool may_park = false;
    bool may_block = false;                     ///< the thread serves no requests
    std::shared_ptr<void>* own_work = nullptr;  ///< null: the request's
    const Invocation* invocation = nullptr;
};

/// How the input gets into the record, in the two steps of the order of checks.
class Input {
public:
    virtual ~Input() = default;
    /// Whether the workspace is named as one can be, which is a part of step 7 and comes first.
    virtual void check_workspace() const = 0;
    virtual void check_syntax() = 0;     ///< step 7
    virtual void fill(void* input) = 0;  ///< step 10
    /// The version that the client expects the record to have; after check_syntax().
    virtual std::optional<std::int64_t> expected_version() const = 0;
    /// The lease that the client names (Call::named_lease); after check_syntax().
    virtual std::string_view named_lease() const = 0;
    /// What an idempotency key is bound to beside the route.
    virtual std::string_view body() const = 0;
    /// The last id that the path of the operation names, and the field it is in.
    struct Subject {
        std::string_view field;
        Uuid id;
    };
    virtual std::optional<Subject> subject() const = 0;
};

/// Whether it is the request's turn. If not it waits, for that (Admission) or for its answer
/// (RequestGroups), and comes back. Failure 429 or 503 when too many wait already.
[[nodiscard]] bool take_turn(
    Kernel::Impl& kernel,
    http::Exchange& exchange,
    RequestContext& request_context,
    const CallerResolver& who
);

/// Runs it, again where that is right, and commits. Nothing when another request is to answer it
/// (RequestGroups), which happens to those that came by REST. Failures come out as exceptions, as
/// do Parked (only if the run may park).
std::optional<http::Answer> run_operation(const Run& run, Input& input);

/// The last line of defence: lists are cut into pages before they come to this.
Failure too_large_answer();
/// The header that says which version of a record an answer has.
std::pair<std::string, std::string> etag_of(std::int64_t version);

/// The answer of a Failure; and of any other exception, which is logged under the request's id.
http::Answer answer_of(const Failure& failure, std::string_view request_id);
http::Answer answer_of_unexpected(std::string_view what, std::string_view request_id);

}  // namespace svc::core
