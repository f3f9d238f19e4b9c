#include "svc/module.hpp"

namespace {
class OpensBadly final : public svc::Module {
    void open(svc::Kernel&) override { throw std::runtime_error("cannot find its wrench"); }
};
}  // namespace

SVC_MODULE(OpensBadly, "opens_badly");
extern "C" const char svc_migrations[] = "";
