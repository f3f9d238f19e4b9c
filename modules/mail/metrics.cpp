#include "modules/mail/metrics.hpp"

namespace svc::mail {

namespace {

struct StatusCount {
    std::string status;
    std::int64_t mails = 0;
    double oldest_seconds = 0;
};
SVC_RECORD(StatusCount, (status), (mails), (oldest_seconds));

constexpr Sql count_mails{"mail.count_mails", R"(
    SELECT 'waiting' AS status, count(m.org_id) AS mails,
           coalesce(extract(epoch FROM now() - min(m.created_time)), 0)::float8 AS oldest_seconds
      FROM mail_outbox m WHERE m.status IN ('queued', 'sending')
    UNION ALL
    SELECT 'failed', count(m.org_id), 0 FROM mail_outbox m WHERE m.status = 'failed')"};

constexpr double late_seconds = 600;

}  // namespace

std::vector<Metric> mail_metrics(Kernel& kernel) {
    std::vector<StatusCount> counts;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        counts = tx.all<StatusCount>(count_mails);
    });
    std::vector<Metric> out;
    for (const StatusCount& each : counts) {
        out.push_back(
            {"mail_outbox",
             "Mails that wait to be sent, and those that failed for good.",
             "status=\"" + each.status + "\"",
             static_cast<double>(each.mails),
             true}
        );
        if (each.status == "waiting")
            out.push_back(
                {"mail_oldest_seconds",
                 "How long the oldest mail that is not sent has waited.",
                 "",
                 each.oldest_seconds,
                 true,
                 late_seconds}
            );
    }
    return out;
}

}  // namespace svc::mail
