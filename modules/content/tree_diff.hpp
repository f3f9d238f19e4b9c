#pragma once

#include "modules/content/changes.hpp"
#include "modules/content/lib/markdown.hpp"

/// A new text in place of an old one, with as little change as possible.
namespace svc::content {

/// Blocks of a text. Throws Failure 422 at "markdown".
std::vector<BlockInput> parsed_markdown(const Call& call, const std::string& text);

/// What stands live below a block or on the card.
std::vector<WrittenBlock> written(const CardTree& tree, const Uuid& parent);
/// The names, and the files, that the card shows already.
ReferenceNames kept_names(const CardTree& tree);

/// Beyond so many events a rewriting emits one of each kind instead.
inline constexpr std::size_t most_events = 100;

/// Makes the blocks below a parent say what others say. Those that say the same keep their ids, and
/// as few of them move as can be.
class TreeDiff {
public:
    explicit TreeDiff(CardTree& tree) : tree_(tree) { tree.count_at_end(); }
    void rewrite(const Uuid& parent, std::vector<BlockInput> wanted);
    /// Once all is rewritten.
    void emit(BlockEvents& events) const;

private:
    void adapt(const Uuid& id, BlockInput& wanted, bool same_text);
    Uuid insert(const Uuid& parent, const std::optional<Uuid>& behind, std::vector<BlockInput> run);
    void move(const Uuid& parent, const std::optional<Uuid>& behind, const std::vector<Uuid>& run);

    CardTree& tree_;
    std::vector<std::function<void(BlockEvents&)>> emits_;
    std::vector<Uuid> made_, updated_, trashed_;  ///< what `emits_` is about
};

}  // namespace svc::content
