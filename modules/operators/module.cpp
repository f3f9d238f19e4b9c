#include "svc/module.hpp"

#include "modules/operators/status.hpp"

/// What those who run the server see of it besides the command line.
namespace svc::operators {

SVC_RECORD(
    Settings,
    (accounts,
     "E-mail addresses of the accounts that run this server: they see its state in the console.",
     defaulted)
);

namespace {

class Operators final : public Module {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.tag("operators", "The server's own state, for those who run it.");
        kernel.offer<Settings>(settings_);
        kernel.add(get_server_status);
    }

private:
    Settings settings_;
};

}  // namespace

}  // namespace svc::operators

SVC_MODULE(svc::operators::Operators, "operators", "auth");
