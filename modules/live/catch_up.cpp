#include "modules/live/catch_up.hpp"

namespace svc::live {

void CatchUp::run() {
    plan();
    try {
        if (pages_ > 0 || !asked_.empty())
            kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
                tx.set_scope(feed_.org(), {});
                read(tx);
            });
        const std::lock_guard lock(feed_.mutex());
        for (const Item& item : items_)
            if (Subscription* each = feed_.reading(item.ticket)) advance(item, *each);
        feed_.drop_frames();
    } catch (...) {
        give_back();
        throw;
    }
}

void CatchUp::plan() {
    const std::lock_guard lock(feed_.mutex());
    as_of_ = feed_.last();
    for (const auto& [ticket, subscription] : feed_.take_waiting(most_subscriptions)) {
        Item item{.ticket = ticket};
        plan(item, *subscription);
        if (item.has_page && pages_ == most_pages) {
            feed_.wait_again(*subscription);
            continue;
        }
        if (item.has_page) ++pages_;
        items_.push_back(std::move(item));
    }
}

void CatchUp::plan(Item& item, const Subscription& subscription) {
    const Viewer& viewer = subscription.reader->viewer();
    const auto& board = subscription.wanted->filter.board;
    if (board) want_role(viewer, *board, 0);
    const bool from_now = subscription.position == Subscription::from_now;
    if (from_now ? feed_.last() > 0 : feed_.covers(subscription.position)) {
        if (from_now) return;
        feed_.for_each_recent(subscription.position, [&](LiveEvent& event) {
            if (event.event().board_id && subscription.wanted->filter.passes(event.event()))
                want_role(viewer, *event.event().board_id, event.event().sequence);
            return true;
        });
        return;
    }
    item.has_page = true;
    item.range = {
        .after = from_now ? 0 : subscription.position,
        .board = board,
        .kinds = subscription.wanted->filter.kinds,
        .count = from_now ? 0 : page_events,
        .look_at = from_now ? 0 : look_at,
        .bytes = page_bytes,
    };
}

/// Unless it is known or asked already. What goes beyond the bound is asked in another turn.
void CatchUp::want_role(const Viewer& viewer, const Uuid& board, std::int64_t after) {
    const auto number = feed_.number_of(board);
    if (feed_.role_on(viewer, number, after) || asked_.size() >= most_questions) return;
    const auto& caller = viewer.caller();
    for (const Asked& each : asked_)
        if (each.board == number && each.question.caller.principal == caller.principal &&
            each.question.caller.kind == caller.kind && each.question.caller.role == caller.role)
            return;
    asked_.push_back({{caller, board}, number, viewer.epoch()});
}

void CatchUp::read(Tx& tx) {
    for (Item& item : items_)
        if (item.has_page) item.read = read_events(tx, feed_.org(), item.range);
    for (Item& item : items_) {
        if (!item.has_page) continue;
        EventPage page = item.read();
        item.asked_after = item.range.after;
        item.to = page.to, item.last = page.last, item.oldest = page.oldest;
        as_of_ = std::max(as_of_, page.last);
        item.events.clear();
        for (StoredEvent& each : page.events) {
            const Audience audience = audience_of(kernel_, each.kind);
            item.events.push_back(std::make_shared<LiveEvent>(std::move(each), audience));
        }
    }
    want_roles_for_pages();
    if (!asked_.empty()) ask(tx);
}

void CatchUp::ask(Tx& tx) {
    std::vector<RoleQuestion> questions;
    for (const Asked& each : asked_) questions.push_back(each.question);
    learn(ask_roles(tx, feed_.org(), questions)());
}

/// A page may be ahead of what was handed out here, and of the changes of rights among that: they
/// may have made what is known of no use, and need not be in the page. The boards that are asked
/// for come first: without them there is no progress.
void CatchUp::want_roles_for_pages() {
    const std::lock_guard lock(feed_.mutex());
    for (const Item& item : items_)
        if (const Subscription* to = feed_.reading(item.ticket); to && to->wanted->filter.board)
            want_role(to->reader->viewer(), *to->wanted->filter.board, item.last);
    for (const Item& item : items_) {
        const Subscription* to = feed_.reading(item.ticket);
        if (!to) continue;
        for (const auto& each : item.events)
            if (const StoredEvent& event = each->event(); event.board_id)
                want_role(to->reader->viewer(), *event.board_id, event.sequence);
    }
}

/// An answer to what has changed since it was asked is left out.
void CatchUp::learn(const std::vector<std::optional<boards::BoardRole>>& answers) {
    const std::lock_guard lock(feed_.mutex());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        Viewer* viewer = feed_.find(asked_[i].question.caller);
        if (viewer && viewer->epoch() == asked_[i].epoch)
            viewer->learn({asked_[i].board, answers[i], as_of_});
    }
}

void CatchUp::give_back() {
    const std::lock_guard lock(feed_.mutex());
    for (const Item& item : items_)
        if (Subscription* each = feed_.reading(item.ticket)) feed_.wait_again(*each);
}

// ------------------------------------------------------------------------------ under the lock

void CatchUp::advance(const Item& item, Subscription& subscription) {
    if (const auto& board = subscription.wanted->filter.board) {
        const Viewer::Known* known =
            feed_.role_on(subscription.reader->viewer(), feed_.number_of(*board), item.last);
        if (!known) return feed_.wait_again(subscription);
        if (!known->role) {
            feed_.unsubscribe(subscription);
            return subscription.reader->tell_refused(subscription);
        }
    }
    if (item.has_page && !deliver_page(item, subscription)) return;
    if (subscription.position == Subscription::from_now) subscription.position = feed_.last();
    // What was sequenced after the page was read, or could not be part of it.
    const bool is_ahead = item.has_page && subscription.position >= feed_.last() &&
                          subscription.position >= item.last;
    if (!is_ahead && !feed_.covers(subscription.position)) return feed_.wait_again(subscription);
    bool whole = true;
    feed_.for_each_recent(subscription.position, [&](LiveEvent& event) {
        return whole = !subscription.wanted->filter.passes(event.event()) ||
                       deliver(subscription, event);
    });
    if (!whole) return;
    subscription.position = std::max(subscription.position, feed_.last());
    finish(subscription);
}

/// False when the subscription has been put elsewhere.
bool CatchUp::deliver_page(const Item& item, Subscription& subscription) {
    auto& position = subscription.position;
    if (position == Subscription::from_now) {
        position = item.last;
        return true;
    }
    // Numbers that were never given are those of a database that was restored.
    const bool is_strange = position > item.last;
    // Whoever begins with 0 asks for what there is.
    if (position == 0) position = item.oldest - 1;
    if (is_strange || position + 1 < item.oldest) {
        const auto oldest = is_strange ? item.last + 1 : item.oldest;
        position = oldest - 1;
        subscription.missed = true;
        subscription.reader->tell_gap(subscription, oldest);
        if (is_strange) return true;
    }
    for (const auto& event : item.events)
        if (event->event().sequence > position && !deliver(subscription, *event)) return false;
    position = std::max(position, item.to);
    return true;
}

/// False when the subscription has been put elsewhere.
bool CatchUp::deliver(Subscription& subscription, LiveEvent& event) {
    const EventReader& reader = *subscription.reader;
    const auto sequence = event.event().sequence;
    const auto seen = feed_.sight(reader.viewer(), event);
    if (seen == Feed::Sight::unknown) {
        subscription.position = std::max(subscription.position, sequence - 1);
        feed_.wait_again(subscription);
        return false;
    }
    if (seen == Feed::Sight::seen && !send(subscription, event)) return false;
    subscription.position = sequence;
    return true;
}

/// False when the subscription has been put elsewhere. What is larger than may be under way is sent
/// by itself.
bool CatchUp::send(Subscription& subscription, LiveEvent& event) {
    const EventReader& reader = *subscription.reader;
    http::Stream* stream = reader.stream();
    if (!stream) return feed_.unsubscribe(subscription), false;
    auto frame = reader.frame_of(subscription, event);
    const auto under_way = stream->backlog();
    if (under_way > 0 && under_way + frame->size() > most_under_way) {
        subscription.position = std::max(subscription.position, event.event().sequence - 1);
        feed_.let_drain(subscription);
        // It may be sent between the two; then nobody would say so.
        if (stream->backlog() == 0) feed_.go_on(subscription);
        return false;
    }
    if (stream->send(std::move(frame))) return true;
    feed_.unsubscribe(subscription);  // the stream has ended
    return false;
}

void CatchUp::finish(Subscription& subscription) {
    feed_.attach(subscription);
    if (std::exchange(subscription.announced, true)) return;
    subscription.reader->tell_attached(subscription);
}

}  // namespace svc::live
