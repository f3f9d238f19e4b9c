#include "svc/module.hpp"

#include "modules/boards/grants.hpp"
#include "modules/boards/moves.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

class Boards final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("boards", "Boards, their columns and labels, and the cards on them.");
        for (const Operation* each :
             {&create_board,       &list_boards,  &get_board,      &create_column,
              &list_columns,       &get_column,   &create_label,   &create_card,
              &get_card,           &list_cards,   &update_card,    &move_card,
              &archive_card,       &restore_card, &delete_card,    &link_cards,
              &unlink_cards,       &watch_card,   &unwatch_card,   &list_card_activity,
              &list_card_versions, &revert_card,  &duplicate_card, &batch_cards,
              &get_card_context})
            kernel.add(*each);
        for (const EventKind* each :
             {&board_created,
              &column_created,
              &label_created,
              &card_created,
              &card_updated,
              &card_assigned,
              &card_moved,
              &card_archived,
              &card_restored,
              &card_deleted,
              &card_blocked,
              &card_unblocked,
              &card_linked,
              &card_unlinked,
              &card_watched,
              &card_unwatched})
            kernel.add(*each);
        kernel.offer<Moves>(moves());
        kernel.offer<Briefs>(briefs());
        add_grants(kernel);
    }
};

}  // namespace svc::boards

SVC_MODULE(svc::boards::Boards, "boards", "orgs", "agents");
