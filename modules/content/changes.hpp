#pragma once

#include "modules/content/tree.hpp"

/// What several writes of blocks have in common.
namespace svc::content {

/// The events of changed blocks: asked before anything is written, then emitted.
class BlockEvents {
public:
    BlockEvents(Call& call, const CardTree& tree) : call_(call), tree_(tree) {}

    void made(const std::vector<Uuid>& ids);
    void changed(const Uuid& id);
    /// `was`: the block before it was moved.
    void moved(const StoredBlock& was, const Place& place);
    void moved(const Uuid& id, const Place& place);
    void deleted(const Uuid& id);
    /// So many that one event names them all.
    void changed(const std::vector<Uuid>& ids);
    void deleted(const std::vector<Uuid>& ids);
    void restored(const Uuid& id);

    void emit();

private:
    void add(const EventKind& kind, const Uuid& id, std::string changes, std::string previous);

    Call& call_;
    const CardTree& tree_;
    std::vector<Event> events_;
};

}  // namespace svc::content
