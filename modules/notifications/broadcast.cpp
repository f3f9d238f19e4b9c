#include "modules/notifications/broadcast.hpp"

#include "modules/notifications/work.hpp"
#include "svc/json.hpp"
#include "svc/secrets.hpp"

#include <boost/json.hpp>

#include <cstdio>

namespace svc::notifications {

namespace {

constexpr std::int64_t people_at_once = 500;
constexpr std::chrono::seconds kept = std::chrono::days(30);

// The next $2 accounts behind $1, each with a workspace that it is in, if it is in any.
constexpr Sql next_people{"notifications.next_people", R"(
    SELECT u.id, (SELECT m.org_id FROM memberships m WHERE m.user_id = u.id
        ORDER BY m.org_id LIMIT 1) AS org_id
    FROM (SELECT a.id FROM users a WHERE a.id > $1 ORDER BY a.id LIMIT $2) u
    ORDER BY u.id)"};

struct PersonRow {
    Uuid id;
    std::optional<Uuid> org_id;
};
SVC_RECORD(PersonRow, (id), (org_id));

struct Words {
    std::string title, text;
};
SVC_RECORD(
    Words,
    (title, "", length(1, 200), trimmed),
    (text, "", length(0, 2000), trimmed, multiline, defaulted)
);

Words words_of(const std::string& title, const std::string& text) {
    Words words;
    Reader reader;
    bool good = false;
    try {
        const auto given = json::serialize(json::object{{"title", title}, {"text", text}});
        reader.read(record_of<Words>(), parse_json(given), &words);
        good = reader.clean();
    } catch (const Failure&) {  // no UTF-8
    }
    if (!good)
        throw std::runtime_error(
            "it takes a title of 1 to 200 characters and a text of 2000 at most"
        );
    return words;
}

/// The same for the same words on a day, so that a command that was cut short may be given again.
Uuid id_of(const Words& words) {
    const std::string day = Timestamp::now().str().substr(0, 10);
    const Sha256 digest = sha256(day + '\n' + words.title + '\n' + words.text);
    std::array<std::uint8_t, 16> bytes{};
    std::copy_n(digest.begin(), bytes.size(), bytes.begin());
    bytes[6] = static_cast<std::uint8_t>(0x80 | (bytes[6] & 0x0F));  // version 8 of RFC 9562
    bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));
    return Uuid(bytes);
}

int broadcast(Kernel& kernel, const Words& words) {
    const Broadcast what{
        id_of(words),
        words.title,
        words.text,
        {Timestamp::now().micros + std::chrono::microseconds(kept).count()}
    };
    Uuid last;
    std::size_t found = 0, told = 0;
    do {
        Uuid reached;
        std::size_t some = 0;
        kernel.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            some = 0;
            const auto people = tx.all<PersonRow>(next_people, last, people_at_once);
            found = people.size();
            for (const PersonRow& each : people) {
                reached = each.id;
                if (!each.org_id) continue;
                enqueue_broadcast(kernel, tx, *each.org_id, each.id, what);
                ++some;
            }
        });
        last = reached;
        told += some;
    } while (found == static_cast<std::size_t>(people_at_once));
    std::printf("queued for %zu people\n", told);
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    if (words.size() == 1) return broadcast(kernel, words_of(words[0], ""));
    if (words.size() == 2) return broadcast(kernel, words_of(words[0], words[1]));
    std::fputs("usage: workboard broadcast \"<title>\" [\"<text>\"]\n", stderr);
    return 2;
}

}  // namespace

Command broadcast_command(Kernel& kernel) {
    return {
        .name = "broadcast",
        .summary = "tell everybody something: a notification of the kind system",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
    };
}

}  // namespace svc::notifications
