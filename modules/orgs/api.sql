-- What statements of other modules may read of the directory, and which of its functions they may
-- call. Nothing runs this file: tests/rules/borders_test.cpp holds statements to it. What others
-- know of people, agents and members they write by api/directory_writes.hpp.

GRANT SELECT (id, name, slug, billing_state, security_epoch, deleted_at) ON orgs TO modules;
GRANT SELECT (org_id, id, user_id, role, joined_at, version) ON memberships TO modules;
GRANT SELECT ON membership_view TO modules;
GRANT SELECT (org_id, id, status) ON invitations TO modules;
GRANT SELECT (
    org_id, id, type, name, name_key, avatar_url, gone_at, created_time, last_edited_time, version)
    ON principals TO modules;
GRANT SELECT ON users TO modules;
GRANT EXECUTE ON FUNCTION lower_role TO modules;
GRANT EXECUTE ON FUNCTION add_or_confirm_person TO modules;
