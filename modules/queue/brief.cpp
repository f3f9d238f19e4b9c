// What the work brief of a card says of earlier attempts, and of the results it can build on.

#include "modules/queue/brief.hpp"

#include "modules/queue/lib/rows.hpp"

namespace svc::queue {

namespace {

// Newest last; those that ended the same way for the same reason say so each.
constexpr Sql find_attempts{"queue.attempts_of_card", R"(
    SELECT )" SVC_ENDED_LEASE("o") R"( FROM (
        SELECT a.* FROM lease_outcomes a
        WHERE a.org_id = $1 AND a.card_id = $2
        ORDER BY a.ended_at DESC, a.lease_id DESC
        LIMIT 20
    ) o
    ORDER BY o.ended_at, o.lease_id)"};

// What each of the cards to be done first was completed with last.
constexpr Sql find_results{"queue.results_of_blockers", R"(
    SELECT l.card_id AS blocker_id, r.result
    FROM card_links l
    CROSS JOIN LATERAL (
        SELECT o.result FROM lease_outcomes o
        WHERE o.org_id = $1 AND o.card_id = l.card_id AND o.state = 'completed'
        ORDER BY o.ended_at DESC, o.lease_id DESC
        LIMIT 1
    ) r
    WHERE l.org_id = $1 AND l.target_id = $2 AND l.kind = 'blocks')"};

struct BlockersResult {
    Uuid blocker_id;
    std::optional<LeaseResultData> result;
};
SVC_RECORD(BlockersResult, (blocker_id), (result));

/// Set off as code, whatever it holds, so that it says nothing as Markdown.
std::string fenced(std::string_view text) {
    std::string fence = "```";
    while (text.find(fence) != text.npos) fence += '`';
    return "  " + fence + "\n  " + std::string(text) + "\n  " + fence + "\n";
}

std::string brief_of(const Lease& lease) {
    std::string text = "- Attempt " + std::to_string(lease.attempt) + " " +
                       std::string(name_of(lease.state)) + " at " +
                       lease.ended_at.value_or(lease.expires_at).str() + " by " +
                       lease.holder.name.value_or("somebody") + "\n";
    if (lease.cost) text += "  It cost, as they say:\n" + fenced(to_json(*lease.cost));
    if (lease.error) text += fenced(*lease.error);
    if (lease.result) text += fenced(lease.result->text);
    return text;
}

class Source final : public boards::BriefSource {
public:
    Texts about(Tx& tx, const Uuid& org, const Uuid& card) override {
        return [attempts = tx.later<Lease>(find_attempts, org, card),
                results = tx.later<BlockersResult>(find_results, org, card)]() mutable {
            std::vector<boards::BriefText> texts;
            for (const Lease& each : attempts.all())
                texts.push_back({boards::BriefPart::attempts, brief_of(each), true});
            for (const BlockersResult& each : results.all())
                if (each.result)
                    texts.push_back(
                        {boards::BriefPart::blockers,
                         fenced(each.result->text),
                         false,
                         each.blocker_id}
                    );
            return texts;
        };
    }
};

}  // namespace

std::unique_ptr<boards::BriefSource> make_brief_source() { return std::make_unique<Source>(); }

}  // namespace svc::queue
