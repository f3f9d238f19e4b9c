-- What statements of other modules may read of blocks and comments (tests/rules/borders_test.cpp).

GRANT SELECT (org_id, id, trashed_by) ON blocks TO modules;
GRANT SELECT (org_id, id, in_trash) ON comments TO modules;
