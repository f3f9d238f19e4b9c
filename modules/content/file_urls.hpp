#pragma once

#include "modules/content/tree.hpp"
#include "modules/files/api.hpp"

/// Uploaded files that blocks show. Where no module keeps files, no block shows any.
namespace svc::content {

/// The uploaded files that a stored payload shows.
std::vector<Uuid> files_in(const std::string& payload);

/// Where the caller may fetch these files; asks once, if there are any.
Addresses addresses_of(Call& call, const std::vector<Uuid>& files);

/// Puts the addresses of uploaded files into payloads that are about to be shown: of those that the
/// caller may fetch. Only answers have addresses; for events they end too soon.
class FileUrls {
public:
    /// The payload stays where it is until it is filled.
    void add(BlockType type, std::string& payload);
    /// Asks once, if any payload shows files.
    void fill(Call& call) const;

private:
    struct Wanted {
        BlockType type;
        std::string* payload;
    };
    std::vector<Wanted> payloads_;
    std::vector<Uuid> files_;
};

/// As answers show it.
Block linked(Call& call, StoredBlock row);
std::vector<Block> linked(Call& call, std::vector<StoredBlock> rows);

/// Queues that these blocks show these files, and no others.
void attach_files(
    const Kernel& kernel,
    Tx& tx,
    const Uuid& org,
    const Uuid& card,
    const files::Files::Shown& blocks
);

}  // namespace svc::content
