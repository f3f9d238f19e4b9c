#include "svc/module.hpp"
#include "modules/boards/api/stored_bytes.hpp"

#include "modules/files/card_files.hpp"
#include "modules/files/pictures.hpp"
#include "modules/files/sweeper.hpp"

#include <sodium.h>

namespace svc::files {

namespace {

constexpr Sql bytes_of_files{"files.bytes_stored", R"(
    SELECT coalesce(sum(f.size_bytes), 0)::bigint AS bytes
    FROM files f
    WHERE f.org_id = $1 AND f.status = 'available' AND f.deleted_at IS NULL)"};

constexpr Sql kept_objects{"files.kept_objects", R"(
    SELECT f.org_id, f.id, f.object_id, f.size_bytes, f.sha256 FROM files f
    WHERE f.status = 'available' AND f.deleted_at IS NULL AND f.object_id IS NOT NULL
    ORDER BY f.org_id, f.id)"};

class Module final : public svc::Module {
public:
    void open(Kernel& kernel) override {
        if (sodium_init() < 0) throw std::runtime_error("libsodium did not initialise");
        service_.emplace(kernel, kernel.settings<Settings>());
        pictures_.emplace(*service_);
        values_.emplace(*service_);
        kernel.tag("files", "Files: uploads, attachments of cards, pictures.");
        for (const Operation* each :
             {&presign_file,
              &commit_file,
              &get_file,
              &delete_file,
              &list_attachments,
              &attach_file,
              &detach_file})
            kernel.add(*each);
        for (const EventKind* each :
             {&file_created, &file_deleted, &file_announced, &file_committed, &file_removed})
            kernel.add(*each);
        kernel.offer<Files>(*service_);
        kernel.offer<Service>(*service_);
        kernel.offer<Uploads>(*service_);
        kernel.offer<auth::Pictures>(*pictures_);
        kernel.offer<orgs::Pictures>(*pictures_);
        kernel.offer<boards::CardFiles>(*values_);
        kernel.use<boards::StoredBytes>().count_by(bytes_of_files);
        kernel.use<Upkeep>().add(objects_for_backups());
        add_sweeps(*service_);
        pictures_->add_route(kernel);
        values_->add_route(kernel);
    }

    /// The bytes of all files that can be downloaded.
    BackupPart objects_for_backups() const {
        return {
            .name = "objects",
            .list = kept_objects,
            .item = [](std::span<const std::string> row) -> BackupPart::Item {
                const auto id = [&](std::size_t at) { return Uuid::parse(row[at]).value(); };
                return {object_key(id(0), id(1), id(2)), std::stoll(row[3]), row[4]};
            },
            .read = [this](
                        const std::string& key, const BackupPart::Sink& to
                    ) { return service_->store().read(key, to); },
            .write = [this](
                         const std::string& key, std::int64_t bytes, const BackupPart::Source& from
                     ) { service_->store().write(key, bytes, from); }};
    }

    void start() override { service_->start(); }

    void stop() noexcept override {
        if (service_) service_->stop();
    }

private:
    std::optional<Service> service_;
    std::optional<Pictures> pictures_;
    std::optional<ValuesOfCards> values_;
};

}  // namespace

}  // namespace svc::files

SVC_MODULE(svc::files::Module, "files", "orgs", "auth", "boards");
