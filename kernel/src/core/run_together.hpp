#pragma once

#include "core/run.hpp"

/// Running requests that are served together (RequestGroups).
namespace svc::core {

class RunningCall;

/// The answer that another request has got for it meanwhile, if one has.
std::optional<http::Answer> answered_by_another(const Run& run);

enum class Joining {
    served,  ///< and those that it led
    waits,   ///< for another that serves it
    alone,   ///< it is to be served by itself
};
/// Ends an attempt that led others but did not serve its own request, which is then run by itself.
struct LedInVain {};
/// Has the request served with others, as far as its operation and what it asks for allow that.
Joining serve_with_others(const Run& run, RunningCall& call, Input& input, http::Answer& answer);

}  // namespace svc::core
