#pragma once

#include "svc/types.hpp"

#include <map>

/// Reports as they are shown (contract 6.13).
namespace svc::feedback {

/// The columns of a FeedbackResponse, of a row `r` of feedback_reports.
#define SVC_REPORT                                                                          \
    "nullif(r.org_id, '00000000-0000-0000-0000-000000000000') AS org_id, r.id, r.user_id, " \
    "r.type, r.status, r.surface, r.title, r.message, r.page_url, r.metadata, "             \
    "r.screenshot_file_id, r.reply, r.replied_at, r.created_time, r.last_edited_time"

enum class FeedbackType { bug, idea, praise, question, other };
BOOST_DESCRIBE_ENUM(FeedbackType, bug, idea, praise, question, other)

enum class FeedbackStatus { new_, acknowledged, in_progress, resolved, declined };
BOOST_DESCRIBE_ENUM(FeedbackStatus, new_, acknowledged, in_progress, resolved, declined)

enum class FeedbackSurface { api, web, mcp };
BOOST_DESCRIBE_ENUM(FeedbackSurface, api, web, mcp)

struct FeedbackResponse {
    Object<"feedback"> object;
    Uuid id;
    std::optional<Uuid> org_id;
    Uuid user_id;
    FeedbackType type{};
    FeedbackStatus status{};
    FeedbackSurface surface{};
    std::optional<std::string> title;
    std::string message;
    std::optional<Url> page_url;
    std::map<std::string, std::string> metadata;
    std::optional<Uuid> screenshot_file_id;
    std::optional<std::string> reply;
    std::optional<Timestamp> replied_at;
    Timestamp created_time;
    Timestamp last_edited_time;
};
SVC_SHARED_RECORD(
    FeedbackResponse,
    (object, "Always \"feedback\"."),
    (id, "The report's id."),
    (org_id, "The workspace in which it was given; null: in none."),
    (user_id, "Who gave it: a person or an agent."),
    (type, "What sort of report it is."),
    (status, "How far whoever runs the service is with it."),
    (surface,
     "How it came in, as the service saw it: `web` from a browser session, `api` with a token, "
     "`mcp` from a tool."),
    (title, "What it is about, in a few words."),
    (message, "The report."),
    (page_url, "The page it is about."),
    (metadata, "What its sender added, such as a version of a browser."),
    (screenshot_file_id, "A picture of what it is about; get_file leads to it."),
    (reply, "The answer of whoever runs the service; null until there is one."),
    (replied_at, "When that was written."),
    (created_time, "When the report was given."),
    (last_edited_time, "When its status or reply was last changed.")
);

}  // namespace svc::feedback
