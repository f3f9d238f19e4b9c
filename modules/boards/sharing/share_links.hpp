#pragma once

#include "modules/boards/statements.hpp"
#include "svc/as_json.hpp"
#include "svc/rate_limit.hpp"

#include <map>
#include <mutex>

/// Links that show a board to whoever has them (contract 6.32).
namespace svc::boards {

enum class ShareRole { viewer };
BOOST_DESCRIBE_ENUM(ShareRole, viewer)

struct ShareLink {
    Object<"share_link"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    std::optional<Uuid> card_id;
    ShareRole role{};
    bool has_password = false;
    AsJson<std::vector<std::string>> hidden_properties;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;
    std::int64_t view_count = 0;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
    std::optional<std::string> url;
};
SVC_SHARED_RECORD(
    ShareLink,
    (object),
    (id),
    (org_id, "The workspace."),
    (board_id),
    (card_id, "The only card it shows; null: the whole board."),
    (role, "Always viewer: read-only."),
    (has_password, "It asks for a password."),
    (hidden_properties, "Ids of the properties that it leaves out."),
    (expires_at, "When it stops working; null: never by itself."),
    (revoked_at, "When it was revoked; null while it is valid."),
    (view_count, "Views, up to some seconds ago."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version),
    (url, "What to hand out; shown this once.", omit_empty, secret)
);

/// How often one place asks for what share links show.
struct SharedViews : MemoryRateLimit {
    static constexpr std::string_view name = "boards.SharedViews";  ///< offered to the handlers
    explicit SharedViews(std::int64_t a_minute)
        : MemoryRateLimit({"shared_board", a_minute, std::chrono::minutes(1)}) {}
};

/// Who looked, until the next time it is written down. Any thread.
class Views {
public:
    static constexpr std::string_view name = "boards.Views";  ///< offered to the handlers
    struct Link {
        Uuid org, id;
        auto operator<=>(const Link&) const = default;
    };
    void note(const Link& link) {
        const std::scoped_lock lock(mutex_);
        ++counts_[link];
    }
    void write_down(Kernel& kernel);

private:
    std::mutex mutex_;
    std::map<Link, std::int64_t> counts_;
};

}  // namespace svc::boards
