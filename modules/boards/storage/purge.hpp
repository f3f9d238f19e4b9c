#pragma once

#include "modules/boards/api/trash.hpp"

/// What has been in the trash for long enough goes for good.
namespace svc::boards {

class TrashHere final : public Trash {
public:
    explicit TrashHere(std::chrono::seconds kept) : kept_(kept) {}
    std::chrono::seconds kept() const override { return kept_; }

private:
    const std::chrono::seconds kept_;
};

/// Removes cards and boards that were put into the trash before that. A job; any number of servers
/// at once.
void purge_trash(Kernel& kernel, std::chrono::seconds kept);

}  // namespace svc::boards
