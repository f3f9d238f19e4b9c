#pragma once

#include "core/admission.hpp"
#include "core/config.hpp"
#include "core/identities.hpp"
#include "core/metrics.hpp"
#include "core/refusal_counts.hpp"
#include "core/request_groups.hpp"
#include "core/secret.hpp"
#include "core/timers.hpp"
#include "core/wait_queue.hpp"
#include "db/database.hpp"
#include "decl/input.hpp"
#include "events/hooks.hpp"
#include "jobs/pool.hpp"
#include "svc/budgets.hpp"
#include "svc/kernel.hpp"
#include "svc/operator/upkeep.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

namespace svc {

namespace core {
class StreamRegistry;
}
namespace events {
class Sequencer;
}

/// What stands behind the Kernel: the registry while modules open, then everything that runs.
/// The registry's members are written on the main thread before the server starts and only
/// read afterwards.
class Kernel::Impl {
public:
    struct Folder {
        std::string prefix;
        std::filesystem::path path;
    };

    // the registry
    std::vector<Declared> operations;
    std::map<std::string_view, std::size_t> operation_numbers;
    std::vector<decl::OpenApiInput::Tag> tags;
    std::vector<const EventKind*> event_kinds;
    std::map<std::string_view, const EventKind*> event_kind_names;  ///< of those that are events
    std::vector<const Authenticator*> authenticators;
    std::vector<Route> routes;
    std::vector<Folder> folders;
    /// Paths that are answered even while every worker is busy: their routes wait for nothing.
    std::set<std::string, std::less<>> at_once;
    std::vector<Consumer> consumers;
    std::vector<Command> commands;
    std::vector<EventListener> listeners;
    std::vector<core::Gauge> gauges;
    Upkeep upkeep;
    std::vector<core::Timer> timers;
    jobs::Pool jobs;
    events::Hooks hooks;
    std::map<std::string, void*, std::less<>> services;

    // the module that is opening
    std::string opening;
    std::string tag;

    // what runs
    core::Config* config = nullptr;
    std::unique_ptr<core::Secret> secret;
    std::unique_ptr<db::Database> database;
    core::Admission admission;
    core::WaitQueue wait_queue;
    core::RequestGroups request_groups;
    core::Identities identities;
    core::RefusalCounts refusals;
    Budgets* budgets = nullptr;  ///< when a module offers them
    core::StreamRegistry* streams = nullptr;
    std::atomic<events::Sequencer*> sequencer{nullptr};  ///< while there is one
    /// Tells the sequencer that events were committed. Any thread.
    void nudge();
    std::string base_url;
    std::string var_folder, share_folder;
    std::size_t largest_answer = 8 << 20;  ///< bytes
    std::atomic<bool> stopping{false};

    std::once_flag openapi_once;
    std::string openapi;
};

}  // namespace svc
