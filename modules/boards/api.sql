-- What statements of other modules may read of boards and cards, and which functions they may call
-- (tests/rules/borders_test.cpp). Who may what is judged by the parts of statements in
-- api/board_role.hpp. What others change of a card they change by api/content_counts.hpp and Moves.

GRANT SELECT (org_id, id, key, name, visibility, created_by, is_archived, in_trash, last_edited_time)
    ON boards TO modules;
GRANT SELECT ON board_view TO modules;
GRANT SELECT ON columns TO modules;
GRANT SELECT ON column_turns TO modules;
GRANT SELECT ON cards TO modules;
GRANT SELECT ON card_view TO modules;
GRANT SELECT (org_id, card_id, target_id, kind) ON card_links TO modules;
GRANT SELECT (org_id, principal_id, board_id, role) ON board_grants TO modules;
GRANT SELECT (org_id, card_id, principal_id) ON card_watchers TO modules;
GRANT SELECT (org_id, principal_id, card_id) ON card_assignees TO modules;
GRANT EXECUTE ON FUNCTION board_role TO modules;
GRANT EXECUTE ON FUNCTION card_is_open TO modules;
