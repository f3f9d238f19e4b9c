#pragma once

#include "modules/boards/api/trash.hpp"
#include "svc/kernel.hpp"

/// What has been in the trash for long enough goes for good.
namespace svc::boards {

class TrashImpl final : public Trash {
public:
    explicit TrashImpl(std::chrono::seconds kept) : kept_(kept) {}
    std::chrono::seconds kept() const override { return kept_; }

private:
    const std::chrono::seconds kept_;
};

/// Adds the jobs that remove cards and boards that were put into the trash before that.
void add_purge(Kernel& kernel, std::chrono::seconds kept);

}  // namespace svc::boards
