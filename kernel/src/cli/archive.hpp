#pragma once

#include "core/tar.hpp"
#include "db/copy.hpp"
#include "http/descriptor.hpp"
#include "svc/secrets.hpp"

#include <filesystem>
#include <map>
#include <optional>

/// What `workboard backup` writes and `workboard restore` reads: a tar archive with
///
///   database/<table>   its rows, as COPY writes them
///   objects/<key>      the bytes of files, and so for every part that modules name
///   config/…           the settings files, and in-force.toml without secrets
///   server.key         what all servers of the database sign with
///   manifest.json      what there is, and how many rows of each table
///   SHA256SUMS         of every file above, as sha256sum has them
namespace svc::cli {

struct BackedUpTable {
    std::string name;
    std::string columns;
    std::int64_t rows = 0;
};
SVC_SHARED_RECORD(BackedUpTable, (name), (columns), (rows));

struct BackedUpSequence {
    std::string name;
    std::int64_t last_value = 0;
    bool is_called = false;
};
SVC_SHARED_RECORD(BackedUpSequence, (name), (last_value), (is_called));

struct BackedUpMigration {
    std::string module;
    std::int64_t number = 0;
    std::string name, sha256;
};
SVC_SHARED_RECORD(BackedUpMigration, (module), (number), (name), (sha256));

struct Manifest {
    std::int64_t format = 1;  ///< of the archive
    std::string version;      ///< of the program
    Timestamp made_at;
    std::string key_fingerprint;
    std::vector<BackedUpTable> tables;
    std::vector<BackedUpSequence> sequences;
    std::vector<BackedUpMigration> migrations;
    std::int64_t objects = 0;
    std::vector<std::string> missing;  ///< keys of objects that were lost before the backup
};
SVC_SHARED_RECORD(
    Manifest,
    (format),
    (version),
    (made_at),
    (key_fingerprint),
    (tables),
    (sequences),
    (migrations),
    (objects),
    (missing)
);

/// Writes an archive; it has its name once finish() has read it again and found it whole, and
/// another, with ".part" behind it, until then. One at a time in a process.
class ArchiveWriter {
public:
    /// Throws std::runtime_error when another process is writing an archive of this name.
    explicit ArchiveWriter(std::filesystem::path file);
    /// What was not finished is removed, as it is when SIGTERM, SIGINT or SIGHUP ends the process.
    ~ArchiveWriter();

    void begin(const std::string& name);
    void add(std::string_view bytes);
    /// The SHA-256 of what was added, in hex.
    std::string end();
    void add_file(const std::string& name, std::string_view bytes);
    void finish(const Manifest& manifest);

private:
    const std::filesystem::path file_, part_;
    std::optional<core::TarWriter> tar_;
    http::Descriptor lock_;  // on the file, so that another writer sees that it is in use
    bool finished_ = false;
    std::string sums_, name_;
    std::optional<Sha256Sum> sum_;
};

/// A whole archive: the constructor reads all of it and throws std::runtime_error when anything is
/// missing, more than there should be, or not what it was.
class Archive {
public:
    explicit Archive(const std::filesystem::path& file);

    const Manifest& manifest() const { return manifest_; }
    const core::TarReader::Entry* find(const std::string& name) const;
    std::string text(const std::string& name) const;
    void read(const core::TarReader::Entry& entry, const db::CopySink& to) const {
        tar_.read(entry, to);
    }
    /// Piece by piece; the archive outlives what this gives.
    db::CopySource source(const core::TarReader::Entry& entry) const;
    /// Of the entries below a folder: their names without it.
    std::vector<std::string> names_in(const std::string& folder) const;
    std::vector<std::string> folders() const;

private:
    core::TarReader tar_;
    std::map<std::string, core::TarReader::Entry> entries_;
    Manifest manifest_;
};

}  // namespace svc::cli
