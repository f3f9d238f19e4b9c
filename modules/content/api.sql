-- What statements of other modules may read of blocks and comments (tests/rules/borders_test.cpp).

GRANT SELECT (org_id, id, card_id, payload, trashed_by, created_time) ON blocks TO modules;
GRANT SELECT (org_id, id, rich_text, in_trash) ON comments TO modules;
