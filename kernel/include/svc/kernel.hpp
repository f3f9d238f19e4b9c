#pragma once

#include "svc/operation.hpp"

#include <atomic>
#include <chrono>

namespace svc {

/// A credential as a request presented it: which authenticator, and the secret it is looked
/// up by (a digest, never the token itself).
struct Credential {
    std::string key;
    /// The workspace the request names (X-Svc-Org or org_id), if any.
    std::optional<Uuid> requested_org;
    bool operator==(const Credential&) const = default;
};

/// A way to sign in. Offered by modules; asked in the order of their opening.
///
/// The kernel remembers who a credential was last time and runs the request on that, while
/// the question travels in the same pipeline as the request's first statement; nothing is
/// answered before the database has confirmed it (docs/identity.md).
class Authenticator {
public:
    virtual ~Authenticator() = default;
    virtual std::string_view name() const = 0;

    /// The credential in this request, if it carries one of this kind. No database. A
    /// malformed one throws Failure 401.
    virtual std::optional<Credential> recognise(const http::Request& request) const = 0;

    /// Queues the question who this is; the function returned reads the answer (sending what is
    /// queued if need be). Nothing: unknown, revoked, expired or disabled. A workspace the
    /// credential does not reach throws Failure 404.
    ///
    /// `before` is who it was last time, when that is known, and the transaction acts for them: a
    /// question that can tell whether this still holds is enough, and nothing is then the answer
    /// when it does not.
    virtual std::function<std::optional<Caller>()> identify(
        Tx& tx, const Credential& credential, const Caller* before
    ) const = 0;

    /// Whether a statement may confirm a caller of this kind by itself: their rights are as they are
    /// known as long as the workspace's security epoch is Caller::as_of and Caller::until is not
    /// over. Such a statement is preceded by hold() and followed by confirmed().
    virtual bool confirms_by_epoch() const { return false; }
    /// Keeps the caller's rights from ending before the transaction does.
    virtual void hold(Tx&, const Caller&) const {}
    virtual void confirmed(const Caller&) const {}

    /// A browser sends it by itself, so that unsafe methods need `csrf_matches`.
    virtual bool ambient() const { return false; }
    virtual bool csrf_matches(const http::Request&, const Credential&) const { return true; }
};

/// An operation run from inside: by MCP, or by a script.
struct Invocation {
    std::string_view operation;
    std::string_view arguments;  ///< a JSON object, every field side by side
    Surface surface = Surface::mcp;
    std::optional<Uuid> cause_event;  ///< the event that a script answers
    std::optional<Uuid> cause_automation;
    int depth = 0;
    /// May park the request it is part of, whose handler then runs again from the start; otherwise
    /// Call::wait_for gives up at once.
    bool may_wait = true;
};
struct Invoked {
    int status = 200;
    std::string body;  ///< JSON, a Failure's body included; empty for 204
};

/// A run of a route that is not an operation: what MCP and the pages see.
class RouteCall {
public:
    virtual ~RouteCall() = default;
    virtual const http::Request& request() const = 0;
    virtual const std::string& request_id() const = 0;
    /// What took the body, on a route that says `receive`; null when the request had none.
    virtual http::BodySink* body_sink() = 0;
    /// The caller, confirmed by the database; null on a route for anyone.
    virtual const Caller* caller() const = 0;
    /// Runs an operation as this caller, in a transaction of its own. Never throws a Failure of
    /// the operation's: it is in the answer.
    virtual Invoked invoke(const Invocation& invocation) = 0;
    /// Makes the connection a stream once the handler's answer (status and headers, no
    /// Content-Length) is sent. `started` gets the stream on a worker.
    virtual void become_stream(std::function<void(std::shared_ptr<http::Stream>)> started) = 0;
};

/// A path outside the operations' table. No version header is asked of it.
struct Route {
    std::string method;  ///< "GET", or "*" for any
    std::string path;    ///< exact, or ending in "/*" for everything below
    Access access = Access::anyone;
    std::size_t body_limit = 1 << 20;
    std::function<http::Answer(RouteCall&)> handle;
    /// For bodies that are not to be held in memory: asked on a worker once the head is read, and
    /// what it gives takes the body; `handle` then sees a request without one. A Failure refuses.
    /// Only on a route for anyone, since nobody has been asked yet who calls; such a body has to
    /// have a Content-Length.
    std::function<std::unique_ptr<http::BodySink>(const http::Request& head)> receive{};
    /// The toolset that a token has to reach; empty: a token of any scope will do.
    std::string toolset{};
    /// What refusals at this path say besides, in place of headers of the same names: which pages
    /// may read them, where a client gets a credential. Of a request that was refused before it
    /// was whole there is what could be made out.
    std::function<http::Headers(const http::Request& request, int status)> with_refusals{};
};

/// A command of the `workboard` program that a module brings: `workboard org set-plan …`.
struct Command {
    std::string name;     ///< the first word: "org"
    std::string summary;  ///< one line for `workboard help`
    /// Run with the words after the name, nothing started; the exit code.
    std::function<int(std::span<const std::string> words)> run;
    /// Before it runs the server's key is made if it is missing, and the database is opened and
    /// migrated. Otherwise there are the modules alone, and nothing is changed.
    bool needs_database = true;
    /// The words after the name with which it only looks, such as "list": then neither key nor
    /// schema is made, and a database whose schema is not up to date is refused.
    std::vector<std::string> looks{};
};

/// An operation with the module it came from.
struct Declared {
    const Operation* operation;
    std::string module;
    std::string tag;  ///< OpenAPI tag and MCP toolset
};
/// Whether the operation is in the toolset of that name: its tag's, or `worker`.
bool in_toolset(const Declared& declared, std::string_view toolset);
/// Whether a token of this scope reaches the operation.
bool admits(const ToolScope& scope, const Declared& declared);

/// The registry everything hangs on. Modules put operations, routes, services, hooks and
/// jobs in while they open; afterwards the registry is read-only and any thread may read it.
class Kernel {
public:
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    // ---- while a module opens ----
    /// Names the OpenAPI tag and MCP toolset of the operations this module adds from here on;
    /// without it that is the module's own name.
    void tag(std::string name, std::string description);
    void add(const Operation& operation);
    void add(const EventKind& kind);
    void add(const Authenticator& authenticator);
    void add(Route route);
    /// Serves the files below `folder` (and their .br and .gz variants) under `url_prefix`, to
    /// anyone.
    void add_folder(std::string url_prefix, std::string folder);
    void add(Consumer consumer);
    void add(Command command);
    /// Has a say in every change of that kind. Throws std::logic_error when nobody may refuse it.
    void veto(const EventKind& kind, Veto veto);
    /// The same for all kinds that may be refused and that `which` picks, for this call. What it
    /// does not pick may be committed in fewer round trips.
    void veto(std::function<bool(const Call&, const EventKind&)> which, Veto veto);
    void in_transaction(const EventKind& kind, TransactionHook hook);
    void listen(EventListener listener);
    /// Calls `run` every `interval` on one of the kernel's timer threads, once start() is done;
    /// what it throws is logged. On every server, and for what takes moments: work that may take
    /// longer, or that one server does for all, is a job (svc/jobs.hpp).
    void every(std::string name, std::chrono::milliseconds interval, std::function<void()> run);
    /// A line for /metrics, written when it is asked for.
    void add_metric(std::string name, std::string help, std::function<double()> read);
    template <class Service>
    void offer(Service& service) {
        offer(Service::name, &service);
    }
    /// This module's section of the config, validated; `record` declares the settings.
    template <Described Settings>
    Settings settings() {
        Settings settings;
        read_settings(record_of<Settings>(), &settings);
        return settings;
    }

    // ---- at any time ----
    const std::vector<Declared>& operations() const;
    const Declared* find_operation(std::string_view name) const;
    const std::vector<const EventKind*>& event_kinds() const;
    /// Null when no module that is on has added it.
    const EventKind* find_event_kind(std::string_view name) const;
    /// Another module's, that is open already: throws std::logic_error when nobody has added it.
    const EventKind& event_kind(std::string_view name) const;
    template <class Service>
    Service& use() const {
        return *static_cast<Service*>(find_service(Service::name));
    }
    /// Null when no module offers it.
    template <class Service>
    Service* find() const {
        return static_cast<Service*>(find_service_if_any(Service::name));
    }

    /// Runs `work` in a transaction outside any request and commits; again, three times at
    /// most, after a serialization failure. For jobs and start-up.
    void transact(Tx::Mode mode, const std::function<void(Tx&)>& work);
    /// Runs an operation for a caller that the module vouches for: automations. Never throws a
    /// Failure of the operation's.
    Invoked invoke(const Caller& caller, const Invocation& invocation);
    /// Runs again every call that waits for `topic` (Call::wait_for).
    void wake(std::string_view topic);
    /// For what one caller alone can have: runs again the one that has waited longest, and when it
    /// has got it, or nobody is there any more, the next.
    void wake_one(std::string_view topic);
    /// Null when no module that is on has one of that name.
    const Authenticator* find_authenticator(std::string_view name) const;
    /// Forgets who this credential was: call after revoking it.
    void forget(std::string_view authenticator, std::string_view key);

    /// HMAC-SHA256 under a key derived from the server's secret for this purpose: 32 bytes.
    std::string sign(std::string_view purpose, std::string_view message) const;
    /// Encrypts under a key derived from the server's secret for this purpose and `context`, such as
    /// the id of the row it is kept in; and what was sealed, or nothing when it was sealed under
    /// another key or altered since.
    std::string seal(std::string_view purpose, std::string_view context, std::string_view text)
        const;
    std::optional<std::string> unseal(
        std::string_view purpose, std::string_view context, std::string_view sealed
    ) const;
    /// The public address, without trailing slash.
    const std::string& base_url() const;
    /// Where everything is kept that changes: an absolute path.
    const std::string& var_folder() const;
    /// Where files that belong to the program are: `www/`, `scripts/`, `bin/` below it.
    const std::string& share_folder() const;
    bool stopping() const;

    /// The OpenAPI document and the JSON Schema of an operation's flat input, each made once.
    const std::string& openapi() const;
    std::string tool_schema(const Operation& operation) const;
    /// The JSON Schema of `data` in the events of a kind, and that of a record as it is answered.
    std::string event_schema(const EventKind& kind) const;
    std::string record_schema(const Record& record) const;
    /// What an operation would say to these arguments (a JSON object) before it runs: 422, or
    /// nothing.
    std::optional<Failure> check_arguments(const Operation& operation, std::string_view arguments)
        const;

    class Impl;
    explicit Kernel(std::unique_ptr<Impl> impl);
    ~Kernel();
    Impl& impl() { return *impl_; }

private:
    void offer(std::string_view name, void* service);
    void* find_service(std::string_view name) const;
    void* find_service_if_any(std::string_view name) const;
    void read_settings(const Record& record, void* settings);

    std::unique_ptr<Impl> impl_;
};

}  // namespace svc
