// A module built long ago, against other headers; its initialiser must never run.
#include "svc/abi.hpp"
#undef SVC_ABI
#define SVC_ABI 000000000000
#include "svc/module.hpp"

#include <cstdlib>

namespace {
class Stale final : public svc::Module {
    void open(svc::Kernel&) override {}
};
[[maybe_unused]] const bool ran = (std::abort(), true);
}  // namespace

SVC_MODULE(Stale, "stale");
extern "C" const char svc_migrations[] = "";
