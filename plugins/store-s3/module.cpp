#include "svc/module.hpp"

#include "plugins/store-s3/store.hpp"

/// Files in a bucket of S3, or of a service that speaks as S3 does.
namespace svc::store_s3 {

namespace {

class StoreS3 final : public Module {
public:
    void open(Kernel& kernel) override {
        const auto settings = kernel.settings<Settings>();
        if (settings.bucket.empty() || kernel.find<files::ObjectStore>()) return;
        if (settings.access_key.empty() || settings.secret_key.empty())
            throw std::runtime_error("store-s3.access_key and store-s3.secret_key are needed");
        store_.emplace(settings);
        kernel.offer<files::ObjectStore>(*store_);
        kernel.use<Upkeep>().add(Check{"store", [this] { return store_->check(); }});
    }

private:
    std::optional<Store> store_;
};

}  // namespace

}  // namespace svc::store_s3

SVC_MODULE(svc::store_s3::StoreS3, "store-s3", "files");
