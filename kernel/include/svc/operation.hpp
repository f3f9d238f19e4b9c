#pragma once

#include "svc/call.hpp"
#include "svc/joint.hpp"

#include <functional>

namespace svc {

/// Who may run an operation (docs: the `access` of every operation). `person` is a browser
/// session or an integration token: an agent gets 403. The board roles ask for membership
/// of the workspace here; the role on the board is judged by the statement that reads it.
enum class Access {
    anyone,
    me,
    person,
    member,
    admin,
    owner,
    board_viewer,
    board_editor,
    board_admin,
};
BOOST_DESCRIBE_ENUM(
    Access, anyone, me, person, member, admin, owner, board_viewer, board_editor, board_admin
)

/// Whether this caller's kind and role in the workspace meet `access`. What it is about may
/// refuse besides.
bool admits(Access access, const Caller& caller);

/// Runs before the input is read, in the order listed; throws a Failure to refuse.
using Guard = std::function<void(Call&)>;

/// An answer whose status the handler chooses among the operation's `status` and `also`.
template <class T>
struct Answer {
    int status;
    T body;
};

/// What a handler gives: a record, a page, a variant of records, an Answer of these, or nothing.
struct Output {
    const Codec* codec = nullptr;  ///< null when the answer has no body
    const Record* item = nullptr;  ///< of a page: what `results` hold
    bool versioned = false;        ///< the record has a `version`, sent as its ETag
};

/// What one run produced: the status and the JSON appended to `body`.
struct HandlerResult {
    int status = 0;                       ///< 0: the operation's own
    std::optional<std::int64_t> version;  ///< for the ETag
};

namespace detail {
void write_page_head(const Record& item, std::string& out);
void write_page_tail(
    const Record& item,
    const std::optional<std::string>& next_cursor,
    std::string_view request_id,
    std::string& out
);
template <class T>
inline constexpr bool is_page = false;
template <class T>
inline constexpr bool is_page<Page<T>> = true;
template <class T>
inline constexpr bool is_answer = false;
template <class T>
inline constexpr bool is_answer<Answer<T>> = true;

template <class T>
concept Versioned = requires(const T& record) {
    record.version;
};

template <class T>
Output output_of() {
    if constexpr (std::is_void_v<T>) return {};
    else if constexpr (is_answer<T>) return output_of<decltype(T::body)>();
    else if constexpr (is_page<T>)
        return {.codec = nullptr, .item = &record_of<typename decltype(T::results)::value_type>()};
    else return {.codec = &codec<T>, .versioned = Versioned<T>};
}

template <class T>
void produce(Call& call, const T& result, std::string& out, HandlerResult& produced) {
    if constexpr (is_answer<T>) {
        produced.status = result.status;
        produce(call, result.body, out, produced);
    } else if constexpr (is_page<T>) {
        using Item = typename decltype(T::results)::value_type;
        write_page_head(record_of<Item>(), out);
        Json<std::vector<Item>>::write(result.results, out);
        write_page_tail(record_of<Item>(), result.next_cursor, call.request_id(), out);
    } else {
        Json<T>::write(result, out);
        if constexpr (Versioned<T>) produced.version = result.version;
    }
}
}  // namespace detail

/// A function that serves an operation, with its types rubbed off.
class Handler {
public:
    /// Fills the input record from wherever it came; throws a Failure 422.
    using Fill = std::function<void(void* input)>;

    template <class In, class Out>
    Handler(Out (*serve)(Call&, const In&))  // NOLINT: meant to convert
        : input(&record_of<In>()), output(detail::output_of<Out>()) {
        run = [serve](Call& call, const Fill& fill, std::string& out) {
            In in{};
            fill(&in);
            HandlerResult produced;
            if constexpr (std::is_void_v<Out>) serve(call, in);
            else detail::produce(call, serve(call, in), out, produced);
            return produced;
        };
    }

    const Record* input;
    Output output;
    std::function<HandlerResult(Call&, const Fill&, std::string& out)> run;
};

/// Input of an operation that takes none.
struct Nothing {};
inline const Record& svc_describe(const Nothing*) {
    static constexpr Record record{"Nothing", {}, &detail::blank<Nothing>};
    return record;
}

/// One capability of the service, declared once with static storage. REST routes, request
/// validation, OpenAPI, MCP tools, Lua functions and the audit entry's action are all read
/// off this object.
struct Operation {
    std::string_view name;     ///< operationId, MCP tool, Lua function, audit action
    std::string_view route;    ///< "POST /v1/boards/{board_id}:archive"; {braces} name input fields
    std::string_view summary;  ///< one line for people and agents
    std::string_view description{};  ///< more, in Markdown; for agents it is the tool's description
    Access access = Access::member;
    int status = 200;         ///< on success; 204 when there is no body
    std::vector<int> also{};  ///< further success statuses an Answer may choose
    /// Refusals for the OpenAPI document that do not follow from all the rest, such as 401 of an
    /// operation for anyone that takes a password.
    std::vector<int> refuses{};
    std::vector<Guard> guards{};
    bool tool = true;  ///< offered to MCP and Lua
    /// About what only a person has: an account, invitations, browser sessions. An agent is refused
    /// or gets an empty answer, so it is not among the tools that agents see.
    bool for_people = false;
    bool reads = false;        ///< a POST that changes nothing (GET reads by itself)
    bool destructive = false;  ///< MCP's hint: takes something away
    bool idempotent = false;   ///< MCP's hint: a repeat changes nothing more
    bool open_world = false;   ///< MCP's hint: reaches people or servers outside, by mail or HTTP
    bool worker = false;       ///< in the toolset `worker`: what an agent needs to work a queue
    /// Changes one record only while it is at the version that the client names, if it names one:
    /// by If-Match, or as the argument `expected_version`. The handler calls Call::require_version.
    bool versioned = false;
    /// Writes to a card that somebody may hold, or to what is on it. The client may name the lease
    /// by which it does so, by X-Svc-Lease or as the argument `lease_token`; once that is over the
    /// write is refused (409 lease_lost).
    bool under_lease = false;
    bool when_past_due = false;  ///< a write that a workspace in arrears may still make
    bool names_org = false;      ///< offers X-Svc-Org (declared where the interface document does)
    std::size_t body_limit = 1 << 20;  ///< bytes
    /// Of one that leads on (status 302): where a browser is led when it fails, in place of an
    /// error's body.
    std::string (*error_redirect)(const Kernel& kernel, const Failure& failure) = nullptr;
    Handler handler;
    /// Of one that also serves several requests at once, with the operation's own status.
    JointHandler joint_handler{};

    std::string_view method() const { return route.substr(0, route.find(' ')); }
    std::string_view path() const { return route.substr(route.find(' ') + 1); }
    /// Another site sends a browser here, which is led on by a redirect. Such a GET may write, and
    /// is refused neither for lack of a version nor for what else its query holds.
    bool is_redirect() const { return status / 100 == 3; }
    bool read_only() const { return reads || (method() == "GET" && !is_redirect()); }

    enum class Place { path, query, header, body };
    /// Where a field of the input travels in the REST form.
    Place place(const Field& field) const;
};

}  // namespace svc
