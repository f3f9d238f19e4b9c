#pragma once

#include "db/database.hpp"
#include "events/log.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>

extern "C" const char svc_kernel_migrations[];

namespace svc::test {

using namespace std::chrono_literals;

/// A fresh database with the kernel's tables in it.
class EventsFixture {
public:
    explicit EventsFixture(Postgres& cluster = Postgres::shared())
        : postgres(cluster), url(cluster.empty_database()), database(settings_for(url)) {
        database.open();
        db::migrate(database, db::unpack_migrations("kernel", svc_kernel_migrations));
    }

    /// Another server on the same database.
    std::unique_ptr<db::Database> another_server() const {
        auto other = std::make_unique<db::Database>(settings_for(url));
        other->open();
        return other;
    }

    static db::Settings settings_for(const std::string& url) {
        db::Settings settings;
        settings.url = url;
        settings.pool = 24;
        return settings;
    }

    void write(const Uuid& org, const std::function<void(Tx&)>& work) {
        database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(org, std::nullopt);
            work(tx);
        });
    }

    /// Whatever one statement of one value says to the superuser.
    std::string ask(const std::string& sql) const { return postgres.run(sql, url); }

    /// Whether every row of the log has its numbers.
    bool all_sequenced() const {
        return ask("SELECT count(*) FROM event_log l WHERE NOT EXISTS ("
                   "SELECT FROM event_chain c WHERE c.log_id = l.id)") == "0";
    }

    Postgres& postgres;
    std::string url;
    db::Database database;
};

/// A thing that things happen to.
struct Note {
    Object<"note"> object;
    Uuid id;
    std::string title;
    std::optional<std::string> text;
    std::string token;
    std::int64_t version = 1;
};
SVC_RECORD(Note, (object), (id), (title), (text, "", omit_empty), (token, "", secret), (version));
inline const EventKind note_created{
    "note.created", "note", "A note was written.", &record_of<Note>};
inline const EventKind note_updated{
    "note.updated", "note", "A note was changed.", &record_of<Note>};

inline const EventKind note_pinned{
    "note.pinned", "note", "A note is on a board.", &record_of<Note>, at::board};
inline const EventKind note_placed{
    "note.placed",
    "note",
    "A note is on a card.",
    &record_of<Note>,
    at::board | at::column | at::card};
inline const EventKind note_sent{
    "note.sent", "note", "A note was moved.", &record_of<Note>, at::board | at::move};

inline Caller someone(const Uuid& org) {
    Caller caller;
    caller.id = new_uuid();
    caller.name = "Ada";
    caller.user_id = caller.id;
    caller.org_id = org;
    caller.role = OrgRole::member;
    return caller;
}

/// What listeners and consumers were given, by any thread.
class Heard {
public:
    void add(const StoredEvent& event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
    }
    void add(std::span<const StoredEvent> batch) {
        for (const StoredEvent& event : batch) add(event);
    }
    std::vector<StoredEvent> all() const {
        const std::lock_guard lock(mutex_);
        return events_;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return events_.size();
    }

private:
    mutable std::mutex mutex_;
    std::vector<StoredEvent> events_;
};

}  // namespace svc::test
