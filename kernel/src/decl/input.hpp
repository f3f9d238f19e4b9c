#pragma once

#include "svc/events.hpp"
#include "svc/http.hpp"
#include "svc/operation.hpp"

#include <boost/json/fwd.hpp>

#include <limits>

/// From the text of a request to a filled input record.
namespace svc::decl {

/// Bounds on a body before any type is looked at (contract 4.7).
struct JsonLimits {
    std::size_t depth = 64;
    std::size_t tokens = 20'000;
};

/// Parses JSON strictly: UTF-8, no duplicate members, no NUL in text, no lone surrogates, no
/// number beyond a double. Failure 422 `json_invalid` at ["body", <offset>] otherwise, where
/// "body" is `place`.
json::value parse_json(
    std::string_view text, std::string_view place = "body", JsonLimits limits = {}
);

/// The parts of a REST request as the route's table found them.
struct Parts {
    std::vector<std::pair<std::string_view, std::string>> path;  ///< decoded values by name
    const http::Request* request = nullptr;
};

/// Step 7 of the order of checks: path, query and headers are text of the right form and the
/// body is JSON. Keeps what it parsed so that read_input need not parse it again. Throws 422.
class RestInput {
public:
    RestInput(const Operation& operation, const Parts& parts);
    ~RestInput();
    /// Step 10: everything into the record, every wrong field at once. Throws 422.
    void fill(void* input) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What MCP and Lua name beside the arguments of a versioned operation, as REST does by If-Match.
struct VersionExpected {
    std::optional<std::int64_t> expected_version;
};
SVC_SHARED_RECORD(
    VersionExpected,
    (expected_version,
     "Change it only while its `version` is this; otherwise it is refused (`version_conflict`), so "
     "that nobody's work is overwritten.",
     range(1, std::numeric_limits<std::int64_t>::max()))
);

/// Takes that out of the arguments of an operation that is versioned. Throws 422.
std::optional<std::int64_t> take_expected_version(
    const Operation& operation, json::value& arguments
);

/// What they name beside the arguments of an operation under a lease, as REST does by X-Svc-Lease.
struct LeaseNamed {
    std::optional<std::string> lease_token;
};
SVC_SHARED_RECORD(
    LeaseNamed,
    (lease_token,
     "The lease by which you work on the card, as claim_next_card gave it; once it is over this is "
     "refused (`lease_lost`).",
     length(1, 100),
     secret)
);

/// Takes that out likewise; empty when none is named. Throws 422.
std::string take_named_lease(const Operation& operation, json::value& arguments);

/// Arguments side by side, as MCP and Lua send them. Throws 422 at ["arguments", …].
/// Without an `input` (null pointer) they are only checked.
void fill_flat(const Operation& operation, const json::value& arguments, void* input);

/// The OpenAPI 3.1 document (contract 4.9).
struct OpenApiInput {
    std::string base_url;
    struct Tag {
        std::string name, description;
    };
    std::vector<Tag> tags;
    struct Entry {
        const Operation* operation;
        std::string tag;
    };
    std::vector<Entry> operations;
    /// What was sent and answered once, by operation: a JSON object of members `path`, `query`,
    /// `headers`, `body`, `status` and `answer`. Empty: none.
    std::string recorded{};
    /// With what operations have refused: `refusals`, bodies by name, and `operations`, names by
    /// operation. Empty: none.
    std::string refusals{};
};
std::string openapi(const OpenApiInput& in);

/// The JSON Schema of an operation's flat arguments: root `type: object`, additionalProperties
/// false, no root combinators, no $ref at the root.
std::string tool_schema(const Operation& operation);
/// The JSON Schema of `data` in the events of a kind: EventData with what the kind declares.
std::string event_schema(const EventKind& kind);
/// That of a record as it is answered.
std::string record_schema(const Record& record);

}  // namespace svc::decl
