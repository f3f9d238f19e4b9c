// Comments that are made beside something else: by whoever completes a card.

#include "modules/boards/api/content_counts.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/content/comments.hpp"

namespace svc::content {

namespace {

constexpr Sql insert_comment{"content.insert_comment", R"(
    INSERT INTO comments (
        org_id, id, card_id, block_id, discussion_id, rich_text, plain, created_by, attachments)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9))"};

}  // namespace

void queue_comment(Tx& tx, const Uuid& org, const StoredComment& row, const RichTexts& texts) {
    tx.queue(
        insert_comment,
        org,
        row.id,
        row.card_id,
        row.block_id,
        row.discussion_id,
        row.rich_text.text,
        plain_text_of(texts),
        row.created_by.text,
        row.attachments.text
    );
}

namespace {

class Beside final : public boards::CardComments::Comment {
public:
    Beside(Call& call, std::string_view field, RichTexts texts)
        : texts_(std::move(texts)), names_(call, {naming_part(field, texts_)}) {}

    void write(Call& call, boards::Card& card, const Timestamp& now) override {
        resolve(texts_, names_.names());
        StoredComment row;
        row.id = new_uuid();
        row.card_id = card.id;
        row.discussion_id = row.id;
        row.rich_text = AsJson(texts_);
        row.attachments = AsJson(FileRefs{});
        row.created_time = row.last_edited_time = now;
        row.created_by = AsJson(ref_of(call.caller()));
        const Event made = created(comment_created, shown(row))
                               .on_board(card.board_id)
                               .in_column(card.column_id)
                               .of_card(card.id);
        call.check(made);
        queue_comment(call.tx(), call.org(), row, texts_);
        boards::count_comments(call.tx(), call.org(), card.id, 1);
        card.comment_count += 1;
        call_to(call, card.id, texts_);
        call.emit(made);
    }

private:
    RichTexts texts_;
    NameLookup names_;
};

}  // namespace

std::unique_ptr<boards::CardComments::Comment> CommentsBeside::read(
    Call& call, std::string_view field, const std::string& markdown
) {
    return std::make_unique<Beside>(call, field, said_in(call, std::nullopt, markdown, field));
}

}  // namespace svc::content
