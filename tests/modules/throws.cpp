#include "svc/module.hpp"

namespace {
class Throws final : public svc::Module {
public:
    Throws() { throw std::runtime_error("has no licence to exist"); }
    void open(svc::Kernel&) override {}
};
}  // namespace

SVC_MODULE(Throws, "throws");
extern "C" const char svc_migrations[] = "";
