#include "svc/module.hpp"

#include "modules/operators/lib/checker.hpp"
#include "modules/operators/lib/history.hpp"
#include "modules/operators/status.hpp"
#include "svc/operator/server_status.hpp"

#include <optional>

/// What those who run the server see of it besides the command line.
namespace svc::operators {

namespace {

struct Settings {
    std::vector<Email> accounts;
};
SVC_RECORD(
    Settings,
    (accounts,
     "E-mail addresses of the accounts that run this server: they see its state in the console.",
     defaulted)
);

class Operators final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("operators", "The server's own state, for those who run it.");
        checker_.emplace(kernel.use<Upkeep>().checks());
        looks_ = {kernel.settings<Settings>().accounts, &*checker_, &history_};
        kernel.offer(looks_);
        kernel.add(get_server_status);
        if (looks_.accounts.empty()) return;  // nobody looks
        kernel.every("server history", History::interval, [this, &kernel] {
            history_.add(Timestamp::now(), kernel.use<ServerStatus>().metrics());
        });
    }
    void start() override { checker_->start(); }
    void stop() noexcept override { checker_->stop(); }

private:
    History history_;
    std::optional<Checker> checker_;
    Looks looks_;
};

}  // namespace

}  // namespace svc::operators

SVC_MODULE(svc::operators::Operators, "operators", "auth");
