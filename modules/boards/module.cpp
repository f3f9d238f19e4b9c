#include "svc/module.hpp"
#include "modules/boards/api/events.hpp"

#include "modules/boards/board/copies.hpp"
#include "modules/boards/card/numbers.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/sharing/grants.hpp"
#include "modules/boards/sharing/share_links.hpp"
#include "modules/boards/storage/purge.hpp"
#include "modules/boards/storage/stored_bytes.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::boards {

struct Settings {
    std::int64_t shared_views_a_minute = 120;
    std::int64_t trash_days = 30;
    std::int64_t workspace_mib = 51'200;
};
SVC_RECORD(
    Settings,
    (shared_views_a_minute,
     "How often one place may ask for what share links show, within a minute and by each server, "
     "then 429.",
     range(1, 1000000),
     defaulted),
    (trash_days,
     "How long deleted boards, cards, blocks and comments stay in the trash.",
     range(1, 3650),
     defaulted),
    (workspace_mib,
     "How many MiB of text and files a workspace may store, then 402; 0: any number.",
     range(0, 1'000'000'000),
     defaulted)
);

class Boards final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("boards", "Boards, their columns and labels, and the cards on them.");
        add_cards(kernel);
        add_board_changes(kernel);
        add_column_changes(kernel);
        add_label_changes(kernel);
        add_properties(kernel);
        add_overviews(kernel);
        const Settings settings = kernel.settings<Settings>();
        shared_views_.emplace(settings.shared_views_a_minute);
        kernel.offer(*shared_views_);
        trash_.emplace(std::chrono::hours(24 * settings.trash_days));
        kernel.offer<Trash>(*trash_);
        stored_.emplace(kernel, settings.workspace_mib << 20);
        kernel.offer<StoredBytes>(*stored_);
        kernel.offer<orgs::Storage>(*stored_);
        numbers_.emplace(kernel);
        kernel.offer(*numbers_);
        add_jobs(kernel);
        add_share_links(kernel);
        add_shared_board(kernel);
        kernel.offer<Moves>(moves_);
        kernel.offer<Briefs>(briefs_);
        kernel.offer<Watchers>(watchers_);
        kernel.offer(views_);
        add_grants(kernel);
    }

    void stop() noexcept override {
        if (numbers_) numbers_->give_back_all();
    }

private:
    static void add_cards(Kernel& kernel) {
        for (const Operation* each :
             {&create_board,       &list_boards,   &get_board,      &create_column,
              &list_columns,       &get_column,    &create_label,   &create_card,
              &get_card,           &list_cards,    &update_card,    &move_card,
              &archive_card,       &restore_card,  &delete_card,    &link_cards,
              &unlink_cards,       &watch_card,    &unwatch_card,   &list_card_activity,
              &list_card_versions, &revert_card,   &duplicate_card, &batch_cards,
              &get_card_context,   &get_card_watch})
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
              &board_purged,
              &card_purged,
              &card_watched,
              &card_unwatched})
            kernel.add(*each);
    }

    void add_jobs(Kernel& kernel) {
        add_purge(kernel, trash_->kept());
        kernel.use<Jobs>().add(copy_job(kernel));
        kernel.use<Jobs>().add(rewrite_job(kernel));
        add_recurring_job(kernel, "boards.add_up_counts", std::chrono::seconds(5), [&kernel] {
            add_up_counts(kernel);
        });
        add_recurring_job(kernel, "boards.add_up_bytes", std::chrono::seconds(5), [this] {
            stored_->add_up();
        });
        add_recurring_job(kernel, "boards.count_bytes", std::chrono::minutes(10), [this] {
            stored_->recount();
        });
    }

    MovesImpl moves_;
    BriefsImpl briefs_;
    WatchersImpl watchers_;
    Views views_;
    std::optional<SharedViews> shared_views_;
    std::optional<TrashImpl> trash_;
    std::optional<StoredBytesImpl> stored_;
    std::optional<CardNumbers> numbers_;
};

}  // namespace svc::boards

SVC_MODULE(svc::boards::Boards, "boards", "orgs", "auth", "agents");
