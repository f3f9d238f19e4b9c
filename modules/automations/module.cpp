#include "svc/module.hpp"

#include "modules/automations/engine/check.hpp"
#include "modules/automations/engine/disabling.hpp"
#include "modules/automations/engine/listing.hpp"
#include "modules/automations/engine/runner.hpp"
#include "modules/automations/engine/subject.hpp"
#include "svc/operator/upkeep.hpp"
#include "svc/workspace_jobs.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace svc::automations {

namespace {

struct Settings {
    std::vector<std::string> scripts;
    std::int64_t memory_mib = 16;
    std::int64_t instructions = 10'000'000;
    std::int64_t after_milliseconds = 2'000;
    std::int64_t before_milliseconds = 250;
    std::int64_t calls = 50;
    std::int64_t at_once = 4;
    std::int64_t keep_days = 30;
    std::int64_t disable_after_failures = 20;
};
SVC_RECORD(
    Settings,
    (scripts,
     "Which scripts run: files in `share`/scripts, such as `label-results.lua`, or absolute paths.",
     defaulted),
    (memory_mib, "What one run may hold.", range(1, 1024), defaulted),
    (instructions, "What one run may execute.", range(1'000, 1'000'000'000), defaulted),
    (after_milliseconds,
     "How long one run may take for an event that has happened, calls not included.",
     range(10, 60'000),
     defaulted),
    (before_milliseconds,
     "How long one run may take for a change that it may refuse. A request that makes many changes "
     "waits four times as long at most.",
     range(10, 5'000),
     defaulted),
    (calls, "How many operations one run may call.", range(0, 1'000), defaulted),
    (at_once,
     "How many scripts a server runs at the same time for events that have happened, half of them "
     "for one workspace.",
     range(1, 64),
     defaulted),
    (keep_days, "How long the record of runs is kept.", range(1, 3'650), defaulted),
    (disable_after_failures,
     "After so many failed runs in a row a script answers no more events in that workspace, until "
     "it is changed or `workboard automations enable` is run. 0: never.",
     range(0, 1'000'000),
     defaulted)
);

Poco::Logger& log() { return Poco::Logger::get("automations"); }

Limits limits_of(const Settings& settings, std::int64_t milliseconds) {
    Limits limits;
    limits.memory = static_cast<std::size_t>(settings.memory_mib) << 20;
    limits.instructions = settings.instructions;
    limits.own_time = std::chrono::milliseconds(milliseconds);
    limits.calls = static_cast<int>(settings.calls);
    return limits;
}

class Automations final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        settings_ = kernel.settings<Settings>();
        kernel.tag("automations", "Scripts that answer events.");
        const auto program = Sandbox::program_near(kernel.share_folder());
        const Sandbox after(program, limits_of(settings_, settings_.after_milliseconds));
        const Sandbox before(program, limits_of(settings_, settings_.before_milliseconds));
        runner_ = std::make_unique<Runner>(kernel, before, after, settings_.disable_after_failures);
        sandbox_ = std::make_unique<Sandbox>(after);
        kernel.add(run_failed);
        kernel.add(automation_disabled);
        kernel.add(automation_enabled);
        kernel.offer<Runner>(*runner_);
        kernel.add(list_automations);
        kernel.add(list_automation_runs);
        kernel.add(Consumer{
            .name = "automations",
            .subscribers = [this](const StoredEvent& event) { return runner_->subscribers(event); },
            .deliver = [this](
                           const std::string& script, const StoredEvent& event
                       ) { runner_->deliver(script, event); },
            .at_once = static_cast<int>(settings_.at_once),
            .at_once_per_workspace = static_cast<int>((settings_.at_once + 1) / 2),
        });
        kernel.veto(
            [this](const Call&, const EventKind& kind) { return runner_->has_say_in(kind); },
            [this](Call& call, const Event& event) { return runner_->check(call, event); }
        );
        kernel.every("automations.write_down", std::chrono::seconds(1), [this] {
            runner_->write_down();
        });
        add_recurring_job(kernel, "automations.drop_old_runs", std::chrono::hours(1), [this] {
            drop_old_runs(*kernel_, settings_.keep_days);
        });
        kernel.add(Command{
            .name = "check-scripts",
            .summary = "Runs the tests of the scripts that are on, or of the files named.",
            .run = [this](auto words) { return check(words); },
            .needs_database = false,
        });
        kernel.add(automations_command(kernel));
        add_metrics();
        kernel.use<Upkeep>().on_reload("automations.scripts", [this] { reload(); });
    }

    /// Once every module has said what there is.
    void start() override {
        for (const EventKind* kind : kernel_->event_kinds())
            if (kind->record && kind->from == Subject::read) reader_of(*kernel_, *kind);
        runner_->use(load());
    }

private:
    std::vector<Script> load() const {
        return load_scripts(
            kernel_->share_folder() + "/scripts",
            settings_.scripts,
            *sandbox_,
            declarations_of(*kernel_)
        );
    }

    /// Reads the scripts anew. One that does not load leaves all of them as they were.
    void reload() {
        auto scripts = load();
        const auto count = scripts.size();
        runner_->use(std::move(scripts));
        log().information("reloaded; scripts that run: " + std::to_string(count));
    }

    int check(std::span<const std::string> words) const {
        const std::filesystem::path folder = kernel_->share_folder() + "/scripts";
        const std::vector<std::string> named(words.begin(), words.end());
        int faults = 0, cases = 0;
        for (const std::string& name : named.empty() ? settings_.scripts : named) {
            const CheckReport report = check_script(folder / name, *sandbox_, *kernel_);
            cases += report.cases;
            for (const CheckFault& fault : report.faults) {
                ++faults;
                std::printf(
                    "%s: %s: %s\n", fault.script.c_str(), fault.name.c_str(), fault.what.c_str()
                );
            }
        }
        if (faults == 0) std::printf("%d passed\n", cases);
        else std::printf("%d passed, %d failed\n", std::max(cases - faults, 0), faults);
        return faults == 0 ? 0 : 1;
    }

    void add_metrics() {
        const auto& counts = runner_->counts();
        const auto add = [&](const char* name, const char* help, const auto& counter, double unit) {
            kernel_->add_metric(name, help, [&counter, unit] {
                return static_cast<double>(counter.load()) * unit;
            });
        };
        add("workboard_script_runs_total", "Runs of scripts.", counts.runs, 1);
        add("workboard_script_failures_total", "Runs that failed.", counts.failures, 1);
        add("workboard_script_refusals_total", "Changes that scripts refused.", counts.refusals, 1);
        add("workboard_script_refused_calls_total",
            "Calls of scripts that were refused or failed.",
            counts.refused_calls,
            1);
        add("workboard_script_seconds_total", "Time spent in runs.", counts.microseconds, 1e-6);
    }

    Kernel* kernel_ = nullptr;
    Settings settings_;
    std::unique_ptr<Runner> runner_;
    std::unique_ptr<Sandbox> sandbox_;
};

}  // namespace

}  // namespace svc::automations

SVC_MODULE(svc::automations::Automations, "automations", "orgs");
