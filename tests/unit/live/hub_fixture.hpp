#pragma once

#include "events/sequencer.hpp"
#include "modules/live/catch_up.hpp"
#include "modules/live/hub.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/in_process_server.hpp"

#include <list>

/// What hands out events, without a server in front: a test says when an event is handed out, and
/// what of it a peer takes.
namespace svc::test {

/// A peer that takes what it is sent when the test says so.
class HeldStream final : public http::Stream {
public:
    void use(std::shared_ptr<http::StreamUser> user) override { user_ = std::move(user); }
    bool send(std::shared_ptr<const std::string> frame) override {
        const std::lock_guard lock(mutex_);
        on_send(*frame);
        if (holds_back) backlog_ += frame->size();
        most_backlog_ = std::max(most_backlog_, backlog_);
        frames_.push_back(std::move(frame));
        return open_;
    }
    std::size_t backlog() const override {
        const std::lock_guard lock(mutex_);
        return backlog_;
    }
    void close() override { open_ = false; }
    void end(http::StreamEnd) override { open_ = false; }
    bool open() const override { return open_; }

    /// The peer takes all of it.
    void drain() {
        {
            const std::lock_guard lock(mutex_);
            backlog_ = 0;
        }
        user_->drained();
    }
    std::size_t most_backlog() const { return most_backlog_; }
    std::vector<std::shared_ptr<const std::string>> frames() const {
        const std::lock_guard lock(mutex_);
        return frames_;
    }

    std::atomic<bool> holds_back = false;
    std::function<void(const std::string&)> on_send = [](const std::string&) {};

private:
    mutable std::mutex mutex_;
    std::shared_ptr<http::StreamUser> user_;
    std::vector<std::shared_ptr<const std::string>> frames_;
    std::size_t backlog_ = 0, most_backlog_ = 0;
    std::atomic<bool> open_ = true;
};

/// Its frames are the sequences of events, and words for the rest.
class TestReader final : public live::StreamReader {
public:
    TestReader(live::Viewer& viewer, StreamPlaces::Place place)
        : StreamReader(viewer, std::move(place)) {}

    live::Subscription& want(live::Filter filter, std::int64_t after) {
        live::Subscription& made = subscriptions.emplace_back();
        made.reader = this;
        made.wanted = new live::SharedWanted({std::move(filter), "s"});
        made.position = after;
        return made;
    }
    live::LiveEvent::Frame frame_of(const live::Subscription&, live::LiveEvent& event)
        const override {
        return event.web_socket("s");
    }
    void tell_attached(const live::Subscription&) override { ++attached; }
    void tell_gap(const live::Subscription&, std::int64_t) override { ++gaps; }
    void tell_refused(live::Subscription&) override { ++refused; }
    live::LiveEvent::Frame keep_alive(std::chrono::seconds, std::int64_t) const override {
        return nullptr;
    }
    void for_each_subscription(const std::function<void(live::Subscription&)>& each) override {
        for (live::Subscription& subscription : subscriptions) each(subscription);
    }

    std::list<live::Subscription> subscriptions;
    std::atomic<int> attached = 0, gaps = 0, refused = 0;
};

class HubTest : public testing::Test {
protected:
    using State = live::Subscription::State;
    static constexpr std::int64_t from_now = live::Subscription::from_now;

    HubTest()
        : kernel(in_process().kernel()),
          feed(std::make_shared<live::Feed>(*desk.owner.org_id, places)),
          sequencer_(*kernel.impl().database, {[this](auto batch) {
              const std::lock_guard lock(mutex_);
              for (const StoredEvent& each : batch)
                  if (each.org_id == *desk.owner.org_id) stored_.push_back(each);
          }}) {}
    ~HubTest() override {
        for (const auto& each : readers_) each->ended();
    }

    /// A reader of the feed, whose stream is open.
    struct Open {
        std::shared_ptr<TestReader> reader;
        std::shared_ptr<HeldStream> stream;
        live::Subscription& first() const { return reader->subscriptions.front(); }
    };
    Open open(const Caller& by, std::vector<std::pair<live::Filter, std::int64_t>> wanted) {
        return open(by, std::move(wanted), feed);
    }
    Open open(
        const Caller& by,
        std::vector<std::pair<live::Filter, std::int64_t>> wanted,
        const std::shared_ptr<live::Feed>& of
    ) {
        const auto caller = boards::BoardCaller::of(by, *by.org_id);
        live::Viewer* viewer = nullptr;
        {
            const std::lock_guard lock(of->mutex());
            viewer = &of->enter(caller, PrincipalRef{});
        }
        auto reader = std::make_shared<TestReader>(*viewer, of->places().take(by.id));
        for (auto& [filter, after] : wanted) reader->want(std::move(filter), after);
        auto stream = std::make_shared<HeldStream>();
        stream->use(reader);
        reader->begin(stream);
        readers_.push_back(reader);
        return {reader, stream};
    }

    /// Looks after whoever waits, until nobody does.
    void look() {
        for (int i = 0; i < 100; ++i) {
            {
                const std::lock_guard lock(feed->mutex());
                if (!feed->anybody_waits()) return;
            }
            live::CatchUp(kernel, *feed).run();
        }
        ADD_FAILURE() << "somebody waits for ever";
    }
    /// All that has happened, once it is so many.
    std::vector<StoredEvent> stored(std::size_t count) {
        EXPECT_TRUE(eventually([&] {
            sequencer_.nudge();
            const std::lock_guard lock(mutex_);
            return stored_.size() >= count;
        }));
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(stored_.size(), count);
        return stored_;
    }
    void hand_out(const StoredEvent& event) {
        feed->hand_out(
            std::make_shared<live::LiveEvent>(event, live::audience_of(kernel, event.kind))
        );
    }
    State state_of(const live::Subscription& subscription) {
        const std::lock_guard lock(feed->mutex());
        return subscription.state;
    }
    static std::vector<std::int64_t> sequences_of(const Open& of) {
        std::vector<std::int64_t> sequences;
        for (const auto& each : of.stream->frames()) {
            const auto at = each->find("\"sequence\":");
            if (at != each->npos) sequences.push_back(std::stoll(each->substr(at + 11)));
        }
        return sequences;
    }
    void make_cards(int count, const std::string& title = "Card") {
        for (int i = 0; i < count; ++i) desk.card(desk.backlog, {{"title", title}});
    }

    BoardFixture desk;
    Kernel& kernel;
    live::Hub hub{kernel, {.queued_bytes = 1}};  // more than a byte that waits is too much
    live::Hub roomy{kernel, {}};
    StreamPlaces places{100};
    std::shared_ptr<live::Feed> feed;

private:
    std::mutex mutex_;
    std::vector<StoredEvent> stored_;
    std::vector<std::shared_ptr<TestReader>> readers_;
    events::Sequencer sequencer_;
};

}  // namespace svc::test
