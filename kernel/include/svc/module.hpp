#pragma once

#include "svc/abi.hpp"
#include "svc/kernel.hpp"

#include <boost/config.hpp>
#include <boost/preprocessor/cat.hpp>

namespace svc {

/// A shared library's one object. Its constructor reaches for nothing: whatever a module
/// needs, it takes in open(). open, start and stop run on the main thread.
class Module {
public:
    virtual ~Module() = default;

    /// Put operations, services and hooks into the kernel. Everything named in `needs` is
    /// already open; the database is not up yet.
    virtual void open(Kernel& kernel) = 0;

    /// All modules are open and migrated: begin background work.
    virtual void start() {}

    /// End background work and wait for it. Called in reverse order.
    virtual void stop() noexcept {}
};

struct ModuleCard {
    std::string_view name;
    std::string_view version;
    std::vector<std::string_view> needs;
    std::unique_ptr<Module> (*make)();
    std::string_view migrations;  ///< the module's migrations, as the build packed them
};

/// Exports the class as this library's module: SVC_MODULE(Feedback, "feedback", "orgs").
/// The symbol in front carries the digest of the kernel's public headers in its name, so
/// the loader can tell a stale library without running its initialisers. SVC_VERSION,
/// svc/abi.hpp and svc_migrations come from the build (svc_module() in CMake).
#define SVC_MODULE(Class, module_name, ...)                                               \
    extern "C" BOOST_SYMBOL_EXPORT const char SVC_ABI_SYMBOL;                             \
    const char SVC_ABI_SYMBOL = 0;                                                        \
    extern "C" const char svc_migrations[];                                               \
    extern "C" BOOST_SYMBOL_EXPORT const ::svc::ModuleCard svc_module_card;               \
    const ::svc::ModuleCard svc_module_card {                                             \
        module_name, SVC_VERSION, {__VA_ARGS__},                                          \
            []() -> std::unique_ptr<::svc::Module> { return std::make_unique<Class>(); }, \
            svc_migrations                                                                \
    }
#define SVC_ABI_SYMBOL BOOST_PP_CAT(svc_abi_, SVC_ABI)

}  // namespace svc
