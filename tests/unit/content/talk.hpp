#pragma once

#include "tests/unit/content/page.hpp"

/// Comments, for tests that talk.
namespace svc::test {

/// What `by` says about the page's card, unless `what` says otherwise.
inline Answer comment(Page& page, const Caller& by, object what) {
    if (!what.contains("parent") && !what.contains("discussion_id"))
        what["parent"] = object{{"card_id", page.card.str()}};
    if (!what.contains("markdown") && !what.contains("rich_text")) what["markdown"] = "Hello";
    return page.ask("create_comment", std::move(what), &by);
}

/// What an operation on the comment that was `said` answers.
inline int status(
    Page& page, const Caller& by, std::string_view operation, const Answer& said, object more = {}
) {
    more["comment_id"] = said.text("/id");
    return page.ask(operation, std::move(more), &by).status;
}

}  // namespace svc::test
