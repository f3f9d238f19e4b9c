#pragma once

#include "modules/files/shapes.hpp"
#include "svc/kernel.hpp"
#include "svc/operator/upkeep.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

/// What files offers to other modules, and the port that object stores implement.
namespace svc::files {

// --------------------------------------------------------------------------- to other modules

/// Offered to modules that show files on cards: blocks, comments, properties.
class Files {
public:
    static constexpr std::string_view name = "files.Files";
    virtual ~Files() = default;

    /// Queues the question which of these files the caller may hang on a card: available ones that
    /// the caller uploaded and that hang nowhere yet, or that hang on a card the caller sees. The
    /// function returned reads the answer, in no order; who is not in it does not exist for the
    /// caller.
    virtual std::function<std::vector<FileRef>()> find(Call& call, const std::vector<Uuid>& ids)
        const = 0;

    /// Blocks and comments, each with the files it shows.
    using Shown = std::vector<std::pair<Uuid, std::vector<Uuid>>>;
    /// Queues that each of these, all of one card, shows its files and no others. From then on
    /// whoever sees the card may see them. Two statements, however many they are; no round trip.
    virtual void attach(Tx& tx, const Uuid& org, const Uuid& card, const Shown& shown) const = 0;

    /// How large a file may be, in bytes.
    virtual std::int64_t largest() const = 0;

    /// The address of a file that its caller may see; no database is asked. Nothing while no store
    /// is on: whoever shows the file shows it without.
    virtual std::optional<Link> link(const Uuid& org, const FileRef& file) const = 0;
};

/// A file to be uploaded, as somebody announces it.
struct Announcement {
    Purpose purpose = Purpose::attachment;
    std::string filename;
    std::string content_type;
    std::optional<std::int64_t> size_bytes{};
};

/// Offered to modules that take uploads of their own, such as feedback.
class Uploads {
public:
    static constexpr std::string_view name = "files.Uploads";
    virtual ~Uploads() = default;

    /// Makes the pending file in the call's workspace, in its transaction.
    virtual FileUpload announce(Call& call, const Announcement& what) const = 0;
    /// Makes the caller's own upload available, if it is of this purpose; without one, of any but
    /// feedback's. May wait (Call::wait_for), so come here before changing anything.
    virtual File commit(Call& call, const Uuid& id, const std::optional<Purpose>& purpose)
        const = 0;
    /// Queues the question whether the caller has uploaded this file, for this purpose, and it is
    /// available in the call's workspace; the function returned reads the answer.
    virtual std::function<bool()> is_available(Call& call, const Uuid& id, Purpose purpose)
        const = 0;
    /// Where an operator downloads a file of any workspace, for which the transaction acts. Nothing
    /// when it is not available any more, or no store is on.
    virtual std::optional<Link> link_for_operator(Tx& tx, const Uuid& org, const Uuid& id)
        const = 0;
};

// ------------------------------------------------------------------------- the store's port

/// What one form may upload: one object, under this key, of exactly this type.
struct UploadTerms {
    std::string key;
    std::string content_type;
    std::int64_t most_bytes = 0;  ///< and one at least
    Timestamp until;
};

/// A form that a browser sends straight to the store, the bytes as its last part `file`.
struct UploadForm {
    std::string url;
    std::map<std::string, std::string> fields;
};

/// What a link gives away, and how: the headers of the answer.
struct Download {
    std::string key;
    std::string content_type;
    std::string disposition;  ///< Content-Disposition, in visible ASCII
    Timestamp until;
};

/// What lies under a key.
struct Contents {
    std::int64_t size = 0;
    std::string sha256;     ///< hex
    std::string beginning;  ///< the first bytes, `sniffed` of them at most
    static constexpr std::size_t sniffed = 4096;
};

/// Thrown by a store that cannot be asked now; it may be tried again.
class [[gnu::visibility("default")]] StoreError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The port: where bytes are kept. Of the plugins that are on, the first that is set up offers one.
/// Keys are lower-case letters, digits, dashes and slashes. Any thread.
class ObjectStore {
public:
    static constexpr std::string_view name = "files.ObjectStore";
    virtual ~ObjectStore() = default;

    /// No network, and no disk.
    virtual UploadForm upload_form(const UploadTerms& terms) const = 0;
    virtual std::string download_url(const Download& what) const = 0;

    /// Takes what was uploaded under `from` to `to`, which no form reaches, and looks at it there;
    /// nothing when nothing was uploaded. `from` may still hold it afterwards. May wait for half a
    /// minute; StoreError.
    virtual std::optional<Contents> take(const std::string& from, const std::string& to) = 0;

    /// Removes all keys that begin with `prefix`, which ends in a slash, but `keep`. May wait for
    /// half a minute; StoreError.
    virtual void clear(const std::string& prefix, const std::optional<std::string>& keep) = 0;

    /// For backups: the bytes under a key, piece by piece; false when there are none. StoreError.
    virtual bool read(const std::string& key, const BackupPart::Sink& to) = 0;
    /// Puts `size` bytes under a key, in place of what was there. StoreError.
    virtual void write(
        const std::string& key, std::int64_t size, const BackupPart::Source& from
    ) = 0;
};

}  // namespace svc::files
