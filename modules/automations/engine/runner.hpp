#pragma once

#include "modules/automations/engine/runs.hpp"
#include "svc/published.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace svc::automations {

/// An automation that answers an automation that answers an automation answers nobody.
inline constexpr std::int64_t deepest_chain = 3;

/// Runs the scripts for events, before and after, and records what they did.
class Runner {
public:
    static constexpr std::string_view name = "automations.Runner";  ///< offered to the operations

    /// Scripts get `after` for events that have happened and the tighter `before` for those that
    /// a request is about to cause. One that fails `most_failures` times in a row in a workspace
    /// answers no more of its events (0: however often). There are none before use().
    Runner(Kernel& kernel, Sandbox before, Sandbox after, std::int64_t most_failures = 0);

    /// These run from now on, for what begins from now on. Any thread.
    void use(std::vector<Script> scripts);
    Scripts scripts() const { return scripts_.get(); }

    /// The scripts, by their ids, that answer events of that kind.
    std::vector<std::string> subscribers(const StoredEvent& event) const;
    /// Runs one of them for the event, unless it is gone. Throws when the database or the machine
    /// fails, never for a script.
    void deliver(std::string_view script_id, const StoredEvent& event);
    /// Whether a script is to be asked about changes of this kind.
    bool has_say_in(const EventKind& kind) const;
    /// Before a change: the first refusal, in the order of the scripts. A script that fails has
    /// no say, and its failure is recorded by write_down(). All changes of a call share the time
    /// that four runs may take; when it is over nobody is asked any more, which is one failure.
    Verdict check(Call& call, const Event& event);
    /// Records what ask() could not record inside the request. A job's work.
    void write_down();

    struct Counts {
        std::atomic<std::uint64_t> runs{0}, failures{0}, refusals{0}, refused_calls{0},
            microseconds{0};
    };
    const Counts& counts() const { return counts_; }

private:
    struct Failed {
        Scripts held;
        const Script* script;  // of those held
        Uuid org_id;
        std::string_view kind;  // of an EventKind, which is for ever
        Ended ended;
        int tries = 0;
    };

    void run(const Script& script, const StoredEvent& event, const std::string& event_text);
    Ended ask(
        const Script& script, const std::string& envelope, std::chrono::milliseconds left
    ) const;
    void keep(Failed failed);
    void count(const Ended& ended);

    Kernel& kernel_;
    Published<std::vector<Script>> scripts_;
    const Sandbox before_, after_;
    const std::int64_t most_failures_;
    Counts counts_;
    std::mutex mutex_;
    std::deque<Failed> failed_;  // under mutex_
};

}  // namespace svc::automations
