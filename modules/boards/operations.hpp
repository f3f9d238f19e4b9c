#pragma once

#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/watchers.hpp"
#include "svc/kernel.hpp"

/// The operations of this module, each beside what it is about.
namespace svc::boards {

extern const Operation create_board, list_boards, get_board;
extern const Operation update_board, delete_board, archive_board, restore_board, duplicate_board;
extern const Operation create_column, list_columns, get_column;
extern const Operation update_column, delete_column, move_column;
extern const Operation create_label, update_label, delete_label;
extern const Operation create_card, get_card, list_cards, update_card;
extern const Operation move_card, archive_card, restore_card, delete_card;
extern const Operation duplicate_card, batch_cards, get_card_context;
extern const Operation link_cards, unlink_cards, get_card_watch, watch_card, unwatch_card;
extern const Operation list_card_activity, list_card_versions, revert_card;

/// What other modules know for work briefs.
class BriefsImpl final : public Briefs {
public:
    void add(BriefSource& source) override { sources_.push_back(&source); }
    const std::vector<BriefSource*>& sources() const { return sources_; }

private:
    std::vector<BriefSource*> sources_;  // filled while modules open
};

class WatchersImpl final : public Watchers {
public:
    void add(Tx& tx, const Uuid& org, const Uuid& card, const std::vector<Uuid>& principals)
        override;
};

extern const Operation get_board_snapshot, get_board_metrics, list_board_activity;
extern const Operation create_property, update_property, delete_property;

/// Operations that come with kinds of events of their own.
void add_board_changes(Kernel& kernel);
void add_column_changes(Kernel& kernel);
void add_label_changes(Kernel& kernel);
void add_properties(Kernel& kernel);
void add_overviews(Kernel& kernel);
void add_share_links(Kernel& kernel);
void add_shared_board(Kernel& kernel);

}  // namespace svc::boards
