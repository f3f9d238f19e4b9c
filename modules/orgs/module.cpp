#include "svc/module.hpp"

#include "modules/orgs/orgs.hpp"

namespace svc::orgs {

namespace {

constexpr Sql raise_standing{"orgs.raise_standing", R"(
    UPDATE orgs SET standing = standing + 1 WHERE id = $1)"};

class Orgs final : public Module, public Directory {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        kernel.tag("workspace", "Workspaces: who is in them, and what they may do there.");
        add_org_operations(kernel);
        kernel.offer(settings_);
        kernel.offer<Directory>(*this);
    }

    void unsettle(Tx& tx, const Uuid& org) override { tx.queue(raise_standing, org); }

private:
    Settings settings_;
};

}  // namespace

}  // namespace svc::orgs

SVC_MODULE(svc::orgs::Orgs, "orgs");
