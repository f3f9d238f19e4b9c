#pragma once

#include "plugins/store-local/lib/form.hpp"
#include "plugins/store-local/lib/policy.hpp"
#include "plugins/store-local/store.hpp"

namespace svc::store_local {

/// One upload as it comes in: nothing is written before its policy has been checked, and nothing is
/// kept that does not come in whole.
class Upload final : public http::BodySink, private FormReader::Listener {
public:
    Upload(Store& store, const std::string& boundary);
    ~Upload() override;

    void take(std::string_view bytes) override;
    /// The body is whole: the object stands under its key. A Failure when there is none.
    void finish();

private:
    void field(std::string name, std::string value) override;
    void file_begins() override;
    void file_bytes(std::string_view bytes) override;
    void file_ends() override { ended_ = true; }
    void take_a_place();

    Store& store_;
    FormReader form_;
    Fields fields_;
    std::optional<Policy> policy_;
    std::unique_ptr<Unfinished> file_;
    bool ended_ = false;
    bool counted_ = false;
};

}  // namespace svc::store_local
