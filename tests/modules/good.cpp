#include "svc/module.hpp"

/// A module that does nothing, loaded under several names by the loader's tests.
namespace {
class Good final : public svc::Module {
    void open(svc::Kernel&) override {}
};
}  // namespace

SVC_MODULE(Good, TEST_MODULE_NAME, TEST_MODULE_NEEDS);
extern "C" const char svc_migrations[] = "";
