#include "svc/module.hpp"

#include "plugins/store-local/store.hpp"

#include <sodium.h>

/// Files on this machine's disk; a store that is set up and stands before it in the list of plugins
/// has precedence.
namespace svc::store_local {

namespace {

class StoreLocal final : public Module {
public:
    void open(Kernel& kernel) override {
        if (sodium_init() < 0) throw std::runtime_error("libsodium did not initialise");
        const auto settings = kernel.settings<Settings>();
        if (kernel.find<files::ObjectStore>()) return;
        store_.emplace(kernel, settings);
        store_->add_routes(kernel);
        kernel.offer<files::ObjectStore>(*store_);
    }
    void start() override {
        if (store_) store_->objects().make_folder();
    }

private:
    std::optional<Store> store_;
};

}  // namespace

}  // namespace svc::store_local

SVC_MODULE(svc::store_local::StoreLocal, "store-local", "files");
