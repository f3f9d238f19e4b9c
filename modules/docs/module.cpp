#include "svc/module.hpp"

namespace svc::docs {

namespace {

/// The interactive reference at /docs. Its page is built in admin/; the document it shows is the
/// kernel's /openapi.json.
class Docs final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.add_folder("/docs", kernel.share_folder() + "/docs");
    }
};

}  // namespace

}  // namespace svc::docs

SVC_MODULE(svc::docs::Docs, "docs");
