-- What statements of other modules may read of agents and tokens (tests/rules/borders_test.cpp).

GRANT SELECT (org_id, id, role, status, owner_user_id, max_leases) ON agents TO modules;
GRANT SELECT (org_id, id, role, owner_user_id, revoked_at, expires_at) ON tokens TO modules;
