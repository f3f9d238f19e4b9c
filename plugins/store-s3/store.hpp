#pragma once

#include "modules/files/api.hpp"
#include "plugins/store-s3/signed_client.hpp"
#include "svc/page_sources.hpp"

namespace svc::store_s3 {

/// Objects in a bucket of S3, or of a service that speaks as S3 does. Browsers send and fetch the
/// bytes there; this server moves, looks and removes.
class Store final : public files::ObjectStore, public PageSources {
public:
    explicit Store(const Settings& settings);

    files::UploadForm upload_form(const files::UploadTerms& terms) const override;
    std::string download_url(const files::Download& what) const override;
    std::optional<files::Contents> take(const std::string& from, const std::string& to) override;
    void clear(const std::string& prefix, const std::optional<std::string>& keep) override;
    bool read(const std::string& key, const BackupPart::Sink& to) override;
    void write(const std::string& key, std::int64_t size, const BackupPart::Source& from) override;
    std::string origin() const override { return public_.origin(); }
    /// Whether the bucket can be asked.
    Finding check() const;

private:
    bool copy(const std::string& from, const std::string& to) const;
    std::optional<files::Contents> look_at(const std::string& key) const;
    std::vector<std::string> keys_below(const std::string& prefix) const;
    std::string named(std::string_view key) const { return settings_.prefix + std::string(key); }

    const Settings settings_;
    const Account account_;
    const Place public_;
    const SignedClient service_;
};

}  // namespace svc::store_s3
