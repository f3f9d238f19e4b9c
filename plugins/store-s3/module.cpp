#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "plugins/store-s3/store.hpp"

/// Files in a bucket of S3, or of a service that speaks as S3 does.
namespace svc::store_s3 {

SVC_RECORD(
    Settings,
    (bucket,
     "The bucket that keeps the files; empty: this store stays off.",
     length(0, 63),
     matches("^[a-z0-9.-]*$"),
     defaulted),
    (endpoint,
     "The service that has it, as this server reaches it: scheme, host and perhaps a port.",
     length(8, 500),
     defaulted),
    (public_endpoint,
     "The same as browsers reach it, if that is another address; empty: the endpoint.",
     length(0, 500),
     defaulted),
    (region, "As the service calls it.", length(1, 64), matches("^[a-z0-9-]+$"), defaulted),
    (access_key, "The id of the key that requests are signed with.", length(0, 200), defaulted),
    (secret_key, "The key itself.", length(0, 500), defaulted, secret),
    (path_style,
     "The bucket's name stands in the path and not in front of the host: for services of one's "
     "own.",
     defaulted),
    (prefix,
     "In front of every key, such as `workboard/`: for a bucket that has other things in it.",
     length(0, 100),
     matches("^([a-z0-9-]+/)*$"),
     defaulted),
    (ca_file,
     "A PEM file with the authorities that may vouch for the service; empty: the system's.",
     length(0, 4096),
     defaulted),
    (timeout_seconds, "For one request to the service.", range(1, 25), defaulted)
);

namespace {

class StoreS3 final : public Module {
public:
    void open(Kernel& kernel) override {
        const auto settings = kernel.settings<Settings>();
        if (settings.bucket.empty() || kernel.find<files::ObjectStore>()) return;
        if (settings.access_key.empty() || settings.secret_key.empty())
            throw std::runtime_error("store-s3.access_key and store-s3.secret_key are needed");
        check_ca_file("store-s3.ca_file", settings.ca_file);
        store_.emplace(settings);
        kernel.offer<files::ObjectStore>(*store_);
        kernel.offer<PageSources>(*store_);
        kernel.use<Upkeep>().add(Check{"store", [this] { return store_->check(); }});
    }

private:
    std::optional<Store> store_;
};

}  // namespace

}  // namespace svc::store_s3

SVC_MODULE(svc::store_s3::StoreS3, "store-s3", "files");
