#pragma once

#include "svc/tx.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What modules give an operator: checks, numbers, files that are read again, and what belongs to a
/// backup besides the database.
namespace svc {

/// What a check found, for `workboard doctor`.
struct Finding {
    enum class Level { ok, warning, fault };
    Level level = Level::ok;
    std::string text;  ///< one line
};

/// A check of what the settings name: that a server answers, that a folder can be written to. It
/// changes nothing, and gives up after some seconds.
struct Check {
    std::string name;  ///< "mail"
    /// Run by `doctor` with nothing started, and by a thread of its own while the server serves,
    /// one at a time; what it throws is a fault.
    std::function<Finding()> run;
    bool needs_database = false;
    std::string module{};  ///< whose it is, filled in where it is added; empty: the kernel's
};

/// One of several numbers for /metrics that are read together. Names begin with `workboard_`, which
/// is put in front of those that do not.
struct Metric {
    std::string name, help;
    std::string labels;  ///< `state="ready"`; empty: none
    double value = 0;
    bool is_charted = false;        ///< operators see how it went over the last hour
    std::optional<double> limit{};  ///< more than this is a warning of the module's health
    std::string module{};           ///< as of a Check
};

/// Bytes outside the database that rows name, for `workboard backup` and `restore`.
struct BackupPart {
    /// A key, and what the row says of its bytes.
    struct Item {
        std::string key;
        std::int64_t bytes = 0;
        std::string sha256;  ///< hex
    };
    using Sink = std::function<void(std::string_view bytes)>;
    /// The next piece, good until the one after it is asked for; empty at the end.
    using Source = std::function<std::string_view()>;

    std::string name;  ///< of the folder in the archive: "objects"
    Sql list;          ///< of all workspaces, without parameters; run in the backup's snapshot
    std::function<Item(std::span<const std::string> row)> item;  ///< of a row of `list`
    /// False when there is nothing under that key.
    std::function<bool(const std::string& key, const Sink& to)> read;
    std::function<void(const std::string& key, std::int64_t bytes, const Source& from)> write;
};

/// Offered by the kernel; modules add to it while they open.
class Upkeep {
public:
    static constexpr std::string_view name = "kernel.Upkeep";

    void add(Check check) {
        check.module = opening_;
        checks_.push_back(std::move(check));
    }
    void add(BackupPart part) { parts_.push_back(std::move(part)); }
    /// Asked for /metrics, every ten seconds at most.
    void add_metrics(std::function<std::vector<Metric>()> read) {
        metrics_.push_back({opening_, std::move(read)});
    }
    /// Calls `run` on the main thread when the operator has the server read its files again
    /// (SIGHUP). It throws when they are of no use, having changed nothing. The kernel logs that
    /// `what` stays as it was and why, so `run` neither catches nor logs it.
    void on_reload(std::string what, std::function<void()> run) {
        reloads_.push_back({std::move(what), std::move(run)});
    }

    /// Called before a server begins anything, and by `check-config`; commands for something else
    /// go on without. It throws, with the setting's name in front, when what a setting names is of
    /// no use, and asks no other program.
    void before_start(std::function<void()> check) { start_checks_.push_back(std::move(check)); }

    /// Whether bytes that rows named may be removed now: false while a backup copies them. Asked
    /// in the transaction that decides to remove them.
    bool may_remove_bytes(Tx& tx) const;

    struct Reload {
        std::string what;
        std::function<void()> run;
    };
    struct Metrics {
        std::string module;
        std::function<std::vector<Metric>()> read;
    };
    /// By the kernel: whose what is added from here on is.
    void opening(std::string module) { opening_ = std::move(module); }
    const std::vector<Check>& checks() const { return checks_; }
    const std::vector<BackupPart>& parts() const { return parts_; }
    const std::vector<Metrics>& metrics() const { return metrics_; }
    const std::vector<Reload>& reloads() const { return reloads_; }
    const std::vector<std::function<void()>>& start_checks() const { return start_checks_; }

private:
    std::string opening_;
    std::vector<Check> checks_;
    std::vector<BackupPart> parts_;
    std::vector<Metrics> metrics_;
    std::vector<Reload> reloads_;
    std::vector<std::function<void()>> start_checks_;
};

}  // namespace svc
