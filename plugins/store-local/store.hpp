#pragma once

#include "modules/files/api.hpp"
#include "plugins/store-local/lib/objects.hpp"
#include "plugins/store-local/settings.hpp"
#include "svc/page_sources.hpp"

namespace svc::store_local {

/// Objects on this machine's disk, which the server takes in and gives out itself, under /storage/,
/// by the rules that S3 has: what is signed is good until its time, for exactly what it says.
class Store final : public files::ObjectStore, public PageSources {
public:
    Store(Kernel& kernel, const Settings& settings);
    void add_routes(Kernel& kernel);

    files::UploadForm upload_form(const files::UploadTerms& terms) const override;
    std::string download_url(const files::Download& what) const override;
    std::optional<files::Contents> take(const std::string& from, const std::string& to) override;
    void clear(const std::string& prefix, const std::optional<std::string>& keep) override;
    bool read(const std::string& key, const BackupPart::Sink& to) override;
    void write(const std::string& key, std::int64_t size, const BackupPart::Source& from) override;
    std::string origin() const override;

    const Objects& objects() const { return objects_; }
    /// The signature of a form's policy, as the form carries both.
    std::string signature_of(std::string_view policy) const;
    /// How many uploads are coming in, and may.
    std::atomic<std::int64_t>& uploads() { return uploads_; }
    std::int64_t most_uploads() const { return settings_.uploads_at_once; }

private:
    std::string public_url() const;
    http::Answer give(const http::Request& request) const;

    Kernel& kernel_;
    const Settings settings_;
    const Objects objects_;
    std::atomic<std::int64_t> uploads_{0};
};

}  // namespace svc::store_local
