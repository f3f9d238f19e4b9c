#pragma once

#include "modules/files/api.hpp"

/// What several files of this module share.
namespace svc::files {

struct Settings {
    std::int64_t largest_mib = 20;
    std::int64_t upload_minutes = 15;
    std::int64_t link_minutes = 10;
    std::int64_t pending_uploads = 100;
    std::int64_t checks_at_once = 2;
    std::int64_t sweep_seconds = 60;
    std::int64_t expired_days = 7;
    std::int64_t unused_days = 30;
};
SVC_SHARED_RECORD(
    Settings,
    (largest_mib, "How large a file may be.", range(1, 1024), defaulted),
    (upload_minutes,
     "How long the form of an upload is taken; some minutes later it cannot be committed any more.",
     range(1, 1440),
     defaulted),
    (link_minutes, "How long the address of a download works.", range(1, 10080), defaulted),
    (pending_uploads,
     "Uploads that one caller may have created and not committed, then 429.",
     range(1, 100000),
     defaulted),
    (checks_at_once,
     "Uploads that are checked at the same time when they are committed.",
     range(1, 64),
     defaulted),
    (sweep_seconds,
     "How often abandoned uploads and the bytes of deleted files are looked for.",
     range(1, 86400),
     defaulted),
    (expired_days,
     "How long an upload that nobody committed can still be read.",
     range(1, 365),
     defaulted),
    (unused_days,
     "How long a file is kept that is attached to no card (any more).",
     range(1, 3650),
     defaulted)
);

/// Pictures and screenshots are no larger, whatever else may be.
constexpr std::int64_t largest_picture = 5 << 20;

// -------------------------------------------------------------------------------------- keys

/// Everything of one file in the store begins with this.
std::string prefix_of(const Uuid& org, const Uuid& file);
/// Where forms put it, and where it is kept once it was looked at.
std::string incoming_key(const Uuid& org, const Uuid& file);
std::string object_key(const Uuid& org, const Uuid& file, const Uuid& object);

// -------------------------------------------------------------------------------------- rows

/// A file, and what the caller is to it.
struct FileAccess {
    File file;
    std::optional<Uuid> object_id;
    FileStatus kept_status{};  ///< as it stands in the row, whatever the clock says
    std::int64_t version = 1;
    bool own = false;           ///< the caller uploaded it
    std::int64_t cards = 0;     ///< that it hangs on
    std::int64_t seen = 0;      ///< of these, where the caller may look
    std::int64_t editable = 0;  ///< of these, where the caller has the right to change something
    std::int64_t archived = 0;  ///< of these, boards that are archived
    std::int64_t trashed = 0;   ///< of these, cards that are in the trash
    Timestamp now;

    /// Whoever uploaded it sees it as long as it hangs nowhere, then those who see where.
    bool visible() const { return seen > 0 || (own && cards == 0); }
    FileRef ref() const {
        return {file.id, object_id.value_or(Uuid()), file.filename, file.content_type};
    }
};
SVC_SHARED_RECORD(
    FileAccess,
    (file, "", flatten),
    (object_id),
    (kept_status),
    (version),
    (own),
    (cards),
    (seen),
    (editable),
    (archived),
    (trashed),
    (now)
);

/// Queues the look at these files; deleted ones are not among the answers.
DeferredRows<FileAccess> see(Call& call, const std::vector<Uuid>& ids);

struct FileId {
    Uuid file_id;
};
SVC_SHARED_RECORD(FileId, (file_id, "A file of the workspace."));

// ------------------------------------------------------------------------------------ events

/// What events say of a file on a card: nothing that would let anybody download it.
struct FileChange {
    Uuid id;
    std::optional<Uuid> card_id;
    std::string filename;
    std::string content_type;
    std::optional<std::int64_t> size_bytes;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    FileChange,
    (id, "The file's id."),
    (card_id, "The card it is attached to; null when it is no more."),
    (filename, "The name it is saved under."),
    (content_type, "What sort of file it is."),
    (size_bytes, "In bytes."),
    (version, "The file's version.")
);
inline constexpr EventKind file_created{
    "file.created",
    "file",
    "A file was attached to a card.",
    &record_of<FileChange>,
    at::board | at::card};
inline constexpr EventKind file_deleted{
    "file.deleted",
    "file",
    "A file is attached to a card no more.",
    &record_of<FileChange>,
    at::board | at::card};

/// The event that a file is on this card now (file_created) or no more (file_deleted).
Event change_of(const EventKind& kind, const FileAccess& seen, const Uuid& card, const Uuid& board);

/// For the audit record alone: what has not been shown to anybody is nobody else's business.
inline constexpr EventKind file_announced{
    .name = "file.announced", .object = "file", .summary = "Somebody is about to upload a file."};
inline constexpr EventKind file_committed{
    .name = "file.committed", .object = "file", .summary = "An uploaded file became available."};
inline constexpr EventKind file_removed{
    .name = "file.removed", .object = "file", .summary = "A file was removed for good."};

// ------------------------------------------------------------------------------- the service

class Inspections;

/// What cannot be done while no store is loaded.
Failure no_store();

/// The module's own, behind what it offers.
class Service final : public Files, public Uploads {
public:
    static constexpr std::string_view name = "files.Service";  ///< offered to the handlers
    Service(Kernel& kernel, const Settings& settings);
    ~Service() override;
    void start();
    void stop() noexcept;

    std::function<std::vector<FileRef>()> find(Call& call, const std::vector<Uuid>& ids)
        const override;
    void attach(Tx& tx, const Uuid& org, const Uuid& card, const Shown& shown) const override;
    std::int64_t largest() const override { return settings_.largest_mib << 20; }
    std::optional<Link> link(const Uuid& org, const FileRef& file) const override;
    std::optional<Link> link(const Uuid& org, const FileRef& file, const Timestamp& until) const;

    FileUpload announce(Call& call, const Announcement& what) const override;
    File commit(Call& call, const Uuid& id, const std::optional<Purpose>& purpose) const override;
    std::function<bool()> is_available(Call& call, const Uuid& id, Purpose purpose) const override;
    std::optional<Link> link_for_operator(Tx& tx, const Uuid& org, const Uuid& id) const override;

    /// The file with its links, if it has them.
    File shown(const FileAccess& seen) const;
    /// The store that is on; a Failure 503 without one.
    ObjectStore& store() const;
    const Settings& settings() const { return settings_; }
    Kernel& kernel() const { return kernel_; }

private:
    Kernel& kernel_;
    const Settings settings_;
    std::unique_ptr<Inspections> inspections_;
};

extern const Operation presign_file, commit_file, get_file, delete_file;
extern const Operation list_attachments, attach_file, detach_file;

}  // namespace svc::files
