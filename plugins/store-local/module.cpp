#include "svc/module.hpp"

#include "plugins/store-local/store.hpp"

#include <sodium.h>

/// Files on this machine's disk; a store that is set up and stands before it in the list of plugins
/// has precedence.
namespace svc::store_local {

SVC_RECORD(
    Settings,
    (folder,
     "Where the bytes of files are kept; empty: `objects` below `var`. All servers of one database "
     "need the same.",
     length(0, 4000),
     defaulted),
    (public_url,
     "The address of this server that uploads go to and downloads come from, without trailing "
     "slash; empty: the server's own. One of another host name keeps what people upload apart "
     "from the pages.",
     length(0, 2000),
     defaulted),
    (uploads_at_once,
     "Uploads that may come in at the same time; beyond it 503.",
     range(1, 100000),
     defaulted)
);

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
        kernel.offer<PageSources>(*store_);
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
