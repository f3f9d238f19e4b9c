#pragma once

#include "modules/live/feed.hpp"
#include "modules/live/rights.hpp"
#include "svc/org_events.hpp"

/// Gives subscriptions what they have missed, until they can be attached.
namespace svc::live {

/// One turn of a workspace: some of its waiting subscriptions get some of what they have missed, in
/// one transaction for all of them, and are attached when that was all. On a thread that may wait
/// for the database; the feed's lock is never held meanwhile.
class CatchUp {
public:
    CatchUp(Kernel& kernel, Feed& feed) : kernel_(kernel), feed_(feed) {}

    void run();

private:
    struct Item {
        std::uint64_t ticket = 0;
        bool has_page = false;
        EventRange range;
        std::function<EventPage()> read;
        std::vector<std::shared_ptr<LiveEvent>> events;
        std::int64_t asked_after = 0, to = 0, last = 0, oldest = 1;
    };
    /// A question, and what the answer is good for.
    struct Asked {
        RoleQuestion question;
        std::uint32_t board, epoch;
    };

    void plan();
    void plan(Item& item, const Subscription& subscription);
    void read(Tx& tx);
    void ask(Tx& tx);
    void want_role(const Viewer& viewer, const Uuid& board, std::int64_t after);
    void want_roles_for_pages();
    void learn(const std::vector<std::optional<boards::BoardRole>>& answers);
    void give_back();
    void advance(const Item& item, Subscription& subscription);
    bool deliver_page(const Item& item, Subscription& subscription);
    bool deliver(Subscription& subscription, LiveEvent& event);
    bool send(Subscription& subscription, LiveEvent& event);
    void finish(Subscription& subscription);

    static constexpr std::size_t most_subscriptions = 64, most_pages = 8, most_questions = 500;
    static constexpr std::int64_t page_events = 200, look_at = 1'000, page_bytes = 256 << 10;
    static constexpr std::size_t most_under_way = 64 << 10;  // bytes a reader has not taken

    Kernel& kernel_;
    Feed& feed_;
    std::vector<Item> items_;
    std::vector<Asked> asked_;
    std::size_t pages_ = 0;
    std::int64_t as_of_ = 0;  // the roles asked are those after this sequence, or later ones
};

}  // namespace svc::live
