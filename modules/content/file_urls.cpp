#include "modules/content/file_urls.hpp"

#include "modules/files/api.hpp"
#include "svc/json.hpp"

#include <boost/json/value.hpp>

namespace svc::content {

std::vector<Uuid> files_in(const std::string& payload) {
    // Most show none; within a text, quotes have backslashes.
    if (payload.find("\"file_id\"") == payload.npos) return {};
    return references_of(parse_json(payload)).files;
}

void FileUrls::add(BlockType type, std::string& payload) {
    const auto files = files_in(payload);
    if (files.empty()) return;
    payloads_.push_back({type, &payload});
    files_.insert(files_.end(), files.begin(), files.end());
}

Addresses addresses_of(Call& call, const std::vector<Uuid>& files) {
    Addresses addresses;
    const auto* keeper = files.empty() ? nullptr : call.kernel().find<files::Files>();
    if (!keeper) return addresses;
    for (const files::FileRef& each : keeper->find(call, files)()) {
        const auto link = keeper->link(call.org(), each);
        if (link) addresses[each.id] = {link->url, link->expires_at};
    }
    return addresses;
}

void FileUrls::fill(Call& call) const {
    const Addresses addresses = addresses_of(call, files_);
    if (addresses.empty()) return;
    for (const Wanted& each : payloads_)
        *each.payload = kind_of(each.type).address(*each.payload, addresses);
}

Block linked(Call& call, StoredBlock row) {
    FileUrls addressing;
    addressing.add(row.type, row.payload.text);
    addressing.fill(call);
    return shown(row);
}

std::vector<Block> linked(Call& call, std::vector<StoredBlock> rows) {
    FileUrls addressing;
    for (StoredBlock& each : rows) addressing.add(each.type, each.payload.text);
    addressing.fill(call);
    std::vector<Block> blocks;
    for (const StoredBlock& each : rows) blocks.push_back(shown(each));
    return blocks;
}

void attach_files(
    const Kernel& kernel,
    Tx& tx,
    const Uuid& org,
    const Uuid& card,
    const files::Files::Shown& blocks
) {
    if (const auto* keeper = kernel.find<files::Files>()) keeper->attach(tx, org, card, blocks);
}

}  // namespace svc::content
