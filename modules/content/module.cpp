#include "svc/module.hpp"
#include "modules/boards/api/stored_bytes.hpp"
#include "modules/boards/api/trash.hpp"

#include "modules/content/bodies.hpp"
#include "modules/content/comments.hpp"
#include "modules/content/operations.hpp"
#include "modules/content/purge.hpp"

namespace svc::content {

namespace {

constexpr Sql bytes_of_content{"content.bytes_stored", R"(
    SELECT (
        (SELECT coalesce(sum(pg_column_size(b.payload) + pg_column_size(b.plain)), 0)
         FROM blocks b WHERE b.org_id = $1)
        + (SELECT coalesce(sum(pg_column_size(m.rich_text) + pg_column_size(m.plain)), 0)
           FROM comments m WHERE m.org_id = $1))::bigint AS bytes)"};

}  // namespace

class Content final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("content", "The content of a card: its blocks and comments.");
        for (const Operation* each :
             {&list_block_children,
              &append_block_children,
              &get_block,
              &update_block,
              &delete_block,
              &move_block,
              &batch_blocks,
              &get_card_markdown,
              &update_card_markdown,
              &list_comments,
              &create_comment,
              &get_comment,
              &update_comment,
              &delete_comment,
              &resolve_comment,
              &search})
            kernel.add(*each);
        for (const EventKind* each :
             {&block_created,
              &block_updated,
              &block_deleted,
              &block_restored,
              &comment_created,
              &comment_updated,
              &comment_deleted})
            kernel.add(*each);
        kernel.offer<boards::CardBodies>(bodies_);
        kernel.offer<boards::CardComments>(comments_beside_);
        kernel.use<boards::Briefs>().add(bodies_);
        kernel.use<boards::StoredBytes>().count_by(bytes_of_content);
        add_purge(kernel, kernel.use<boards::Trash>().kept());
    }

private:
    Bodies bodies_;
    CommentsBeside comments_beside_;
};

}  // namespace svc::content

SVC_MODULE(svc::content::Content, "content", "orgs", "auth", "agents", "boards");
