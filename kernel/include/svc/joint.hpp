#pragma once

#include "svc/call.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Requests that are served together
/// (docs/decisions/0056-requests-of-one-caller-are-served-together.md).
namespace svc {

/// One of those that are served together.
template <class In>
struct JointRequest {
    const In& in;
    const std::string& request_id;  ///< what it does is recorded under this
};

/// Serves several requests of one operation in one transaction: those of one caller that came while
/// another was being served. For operations most of whose cost arises once, however many things
/// they do.
///
/// Two functions make one. `alike` says which requests go together: those for which it gives the
/// same text; nothing for one that is to be served by itself. `serve` gives an answer for each, or
/// nothing for those that have to be served by themselves after all: whatever is refused, waits, or
/// takes more than one statement for many. When it throws, nothing is done and each is served by
/// itself; only where the answer to a COMMIT was lost, so that nobody knows, each is told that.
/// The call is the first request's; the others are of the same caller, address and agent. `turns`:
/// so many of a group are served at the same moment before others wait for them.
class JointHandler {
public:
    JointHandler() = default;
    template <class In, class Out>
    JointHandler(
        std::optional<std::string> (*alike)(Call&, const In&),
        std::vector<std::optional<Out>> (*serve)(Call&, std::span<const JointRequest<In>>),
        std::size_t turns = 1
    )
        : turns(turns),
          make_input([] { return std::make_shared<In>(); }),
          key([alike](Call& call, const void* in) {
              return alike(call, *static_cast<const In*>(in));
          }),
          run([serve](Call& call, std::span<const Untyped> untyped) {
              std::vector<JointRequest<In>> requests;
              for (const Untyped& each : untyped)
                  requests.push_back({*static_cast<const In*>(each.in), *each.request_id});
              std::vector<std::optional<Produced>> all;
              for (const auto& each : serve(call, requests)) {
                  auto& produced = all.emplace_back();
                  if (!each) continue;
                  Json<Out>::write(*each, produced.emplace().body);
                  if constexpr (requires { each->version; }) produced->version = each->version;
              }
              return all;
          }) {}

    explicit operator bool() const { return run != nullptr; }

    struct Untyped {
        const void* in;
        const std::string* request_id;
    };
    struct Produced {
        std::string body;
        std::optional<std::int64_t> version;  ///< for the ETag
    };
    std::size_t turns = 1;
    std::function<std::shared_ptr<void>()> make_input;
    std::function<std::optional<std::string>(Call&, const void* in)> key;
    std::function<std::vector<std::optional<Produced>>(Call&, std::span<const Untyped>)> run;
};

}  // namespace svc
