// `workboard feedback …`: what the operator reads of reports, and answers to them.

#include "modules/feedback/feedback.hpp"
#include "modules/feedback/shapes.hpp"
#include "modules/files/api.hpp"
#include "modules/lib/printable/printable.hpp"
#include "modules/notifications/api.hpp"
#include "svc/json.hpp"

#include <boost/json.hpp>

#include <cstdio>

namespace svc::feedback {

namespace {

constexpr std::int64_t most_listed = 50;

constexpr std::string_view list_begin = R"(
    SELECT r.id, r.type, r.status, r.created_time, coalesce(r.title, r.message) AS about,
        u.email, o.slug
    FROM feedback_reports r
    LEFT JOIN users u ON u.id = r.person_id
    LEFT JOIN orgs o ON o.id = r.org_id
    WHERE r.id < $1 AND r.org_id IS NOT NULL)";
constexpr std::string_view with_status = " AND r.status = $3";
constexpr std::string_view list_end = R"(
    ORDER BY r.id DESC
    LIMIT $2)";

constexpr Sql list_all{"feedback.list_all", SqlText<list_begin, list_end>::view};
constexpr Sql list_with_status{
    "feedback.list_with_status", SqlText<list_begin, with_status, list_end>::view
};

#define SVC_WHOLE_REPORT "r.org_id AS kept_under, r.person_id, r.version, " SVC_REPORT

constexpr Sql show_report{"feedback.show_report", R"(
    SELECT )" SVC_WHOLE_REPORT R"(, u.email, o.slug
    FROM feedback_reports r
    LEFT JOIN users u ON u.id = r.person_id
    LEFT JOIN orgs o ON o.id = r.org_id
    WHERE r.id = $1)"};

constexpr Sql lock_report{"feedback.lock_report", R"(
    SELECT )" SVC_WHOLE_REPORT R"(, NULL AS email, NULL AS slug
    FROM feedback_reports r
    WHERE r.id = $1
    FOR NO KEY UPDATE)"};

constexpr Sql write_status{"feedback.write_status", R"(
    UPDATE feedback_reports
    SET status = $3,
        closed_at = CASE WHEN $3 IN ('resolved', 'declined') THEN coalesce(closed_at, now()) END,
        last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql write_reply{"feedback.write_reply", R"(
    UPDATE feedback_reports
    SET reply = $3, replied_at = now(), last_edited_time = now(), version = version + 1
    WHERE org_id = $1 AND id = $2)"};

struct ListedReport {
    Uuid id;
    FeedbackType type{};
    FeedbackStatus status{};
    Timestamp created_time;
    std::string about;
    std::optional<std::string> email, slug;
};
SVC_RECORD(ListedReport, (id), (type), (status), (created_time), (about), (email), (slug));

struct WholeReport {
    FeedbackResponse report;
    Uuid kept_under;  ///< nil: no workspace
    Uuid person_id;
    std::int64_t version = 1;
    std::optional<std::string> email, slug;
};
SVC_RECORD(
    WholeReport, (report, "", flatten), (kept_under), (person_id), (version), (email), (slug)
);

constexpr const char* usage =
    "usage: workboard feedback list [new|acknowledged|in_progress|resolved|declined|all [<id>]]\n"
    "       workboard feedback show <id>\n"
    "       workboard feedback set-status <id> new|acknowledged|in_progress|resolved|declined\n"
    "       workboard feedback reply <id> \"<text>\"\n";

Uuid id_of(const std::string& word) {
    if (const auto id = Uuid::parse(word)) return *id;
    throw std::runtime_error(word + " is not the id of a report");
}

// -------------------------------------------------------------------------------------- look

std::string sender_of(
    const std::optional<std::string>& email, const std::optional<std::string>& slug
) {
    return on_one_line(email.value_or("-"), 254) + "  " + slug.value_or("-");
}

int list(Kernel& kernel, const std::optional<FeedbackStatus>& status, const Uuid& before) {
    std::vector<ListedReport> reports;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        reports = status ? tx.all<ListedReport>(list_with_status, before, most_listed + 1, *status)
                         : tx.all<ListedReport>(list_all, before, most_listed + 1);
    });
    const bool more = reports.size() > static_cast<std::size_t>(most_listed);
    if (more) reports.pop_back();
    for (const ListedReport& each : reports)
        std::printf(
            "%s  %s  %-12s %-8s %s  %s\n",
            each.id.str().c_str(),
            each.created_time.str().c_str(),
            std::string(name_of(each.status)).c_str(),
            std::string(name_of(each.type)).c_str(),
            sender_of(each.email, each.slug).c_str(),
            on_one_line(each.about, 60).c_str()
        );
    if (more)
        std::printf(
            "older ones: workboard feedback list %s %s\n",
            status ? std::string(name_of(*status)).c_str() : "all",
            reports.back().id.str().c_str()
        );
    return 0;
}

/// Where the screenshot is to be seen for a while, as far as this machine can say.
std::string address_of(Kernel& kernel, Tx& tx, const WholeReport& whole) try {
    const auto link = kernel.use<files::Uploads>().link_for_operator(
        tx, whole.kept_under, *whole.report.screenshot_file_id
    );
    return link ? link->url : "not there any more";
} catch (const std::exception&) {
    return "file " + whole.report.screenshot_file_id->str();
}

void print(const WholeReport& whole, const std::string& screenshot) {
    const FeedbackResponse& report = whole.report;
    const auto line = [](const char* name, const std::string& value) {
        std::printf("%-12s %s\n", name, value.c_str());
    };
    line("id", report.id.str());
    line("status", std::string(name_of(report.status)));
    line("type", std::string(name_of(report.type)));
    line("from", sender_of(whole.email, whole.slug) + "  " + report.user_id.str());
    line("by", std::string(name_of(report.surface)));
    line("given", report.created_time.str());
    if (report.title) line("title", on_one_line(*report.title, 200));
    if (report.page_url) line("page", on_one_line(report.page_url->str(), 2'000));
    for (const auto& [key, value] : report.metadata)
        line("with", on_one_line(key, 40) + ": " + on_one_line(value, 500));
    if (!screenshot.empty()) line("screenshot", screenshot);
    std::printf("message\n%s\n", indented(report.message).c_str());
    if (report.reply)
        std::printf(
            "reply at %s\n%s\n", report.replied_at->str().c_str(), indented(*report.reply).c_str()
        );
}

int show(Kernel& kernel, const Uuid& id) {
    std::optional<WholeReport> whole;
    std::string screenshot;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        whole = tx.one<WholeReport>(show_report, id);
        if (whole && whole->report.screenshot_file_id) screenshot = address_of(kernel, tx, *whole);
    });
    if (!whole) throw std::runtime_error("there is no report " + id.str());
    print(*whole, screenshot);
    return 0;
}

// ------------------------------------------------------------------------------------ answer

/// What the submitter is told. Of a report that was given in no workspace, or by an agent, nobody
/// is told: get_feedback says what became of it.
void notify(
    Kernel& kernel, Tx& tx, const WholeReport& about, const std::string& title, std::string body
) {
    auto* notices = kernel.find<notifications::Notices>();
    const FeedbackResponse& report = about.report;
    if (!notices || about.kept_under.nil() || report.user_id != about.person_id) return;
    const std::string& named = report.title ? *report.title : report.message;
    if (!body.empty()) body.insert(0, "\n\n");
    notices->post(
        tx,
        {.org = about.kept_under,
         .person = about.person_id,
         .kind = "feedback",
         .title = title,
         .body = on_one_line(named, 100) + body,
         .target_type = "feedback",
         .target = report.id}
    );
}

/// Changes a report, and has it in the workspace's audit record that the operator did.
template <class Change>
void change(Kernel& kernel, const Uuid& id, std::string_view command, Change make) {
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        const auto before = tx.one<WholeReport>(lock_report, id);
        if (!before) throw std::runtime_error("there is no report " + id.str());
        if (!make(tx, *before) || before->kept_under.nil()) return;
        emit_as_system(
            tx,
            before->kept_under,
            command,
            {.kind = &feedback_answered, .id = id, .version = before->version + 1}
        );
    });
}

std::string news_of(FeedbackStatus status) {
    switch (status) {
        case FeedbackStatus::new_: return "Your feedback is to be looked at again";
        case FeedbackStatus::acknowledged: return "Your feedback was acknowledged";
        case FeedbackStatus::in_progress: return "Your feedback is being worked on";
        case FeedbackStatus::resolved: return "Your feedback was resolved";
        case FeedbackStatus::declined: break;
    }
    return "Your feedback was declined";
}

int set_status(Kernel& kernel, const Uuid& id, FeedbackStatus status) {
    change(kernel, id, "workboard feedback set-status", [&](Tx& tx, const WholeReport& before) {
        if (before.report.status == status) return false;
        tx.queue(write_status, before.kept_under, id, status);
        notify(kernel, tx, before, news_of(status), "");
        return true;
    });
    std::printf("report %s: %s\n", id.str().c_str(), std::string(name_of(status)).c_str());
    return 0;
}

struct Reply {
    std::string text;
};
SVC_RECORD(Reply, (text, "", length(1, 5000), trimmed, multiline));

std::string reply_of(const std::string& word) {
    Reply reply;
    Reader reader;
    bool good = false;
    try {
        const auto given = boost::json::serialize(boost::json::object{{"text", word}});
        reader.read(record_of<Reply>(), parse_json(given), &reply);
        good = reader.clean();
    } catch (const Failure&) {  // no UTF-8
    }
    if (!good) throw std::runtime_error("a reply is text of 1 to 5000 characters");
    return reply.text;
}

int reply(Kernel& kernel, const Uuid& id, const std::string& text) {
    change(kernel, id, "workboard feedback reply", [&](Tx& tx, const WholeReport& before) {
        tx.queue(write_reply, before.kept_under, id, text);
        notify(kernel, tx, before, "Your feedback was replied to", text);
        return true;
    });
    std::printf("replied to report %s\n", id.str().c_str());
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    const auto is = [&](std::string_view name, std::size_t size) {
        return words.size() == size && words[0] == name;
    };
    if (is("list", 1)) return list(kernel, std::nullopt, last_id());
    if (is("list", 2) || is("list", 3))
        if (const auto status = enumerator_of<FeedbackStatus>(words[1]); status || words[1] == "all")
            return list(kernel, status, words.size() == 3 ? id_of(words[2]) : last_id());
    if (is("show", 2)) return show(kernel, id_of(words[1]));
    if (is("set-status", 3))
        if (const auto status = enumerator_of<FeedbackStatus>(words[2]))
            return set_status(kernel, id_of(words[1]), *status);
    if (is("reply", 3)) return reply(kernel, id_of(words[1]), reply_of(words[2]));
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace

Command feedback_command(Kernel& kernel) {
    return {
        .name = "feedback",
        .summary = "list and show reports, set their status, reply to them",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
        .looks = {"list", "show"},
    };
}

}  // namespace svc::feedback
