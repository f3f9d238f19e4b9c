-- Whom an answer is for is worked out once for a statement, not once for each row: lists and
-- snapshots read hundreds of cards, and count thousands (docs/tenancy.md).
ALTER POLICY by_org ON boards
    USING (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()))
    WITH CHECK (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()));
ALTER POLICY by_org ON columns
    USING (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()))
    WITH CHECK (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()));
ALTER POLICY by_org ON cards
    USING (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()))
    WITH CHECK (org_id = (SELECT svc_org()) OR (SELECT svc_all_orgs()));

-- Cards are found by keys. A sample of 3,000 says as much of those as one of 30,000, and nothing is
-- looked up by what is in the bodies: ANALYZE compared their JSON for half a second, every few
-- seconds while cards were made.
ALTER TABLE cards
    ALTER COLUMN org_id SET STATISTICS 10,
    ALTER COLUMN id SET STATISTICS 10,
    ALTER COLUMN board_id SET STATISTICS 10,
    ALTER COLUMN column_id SET STATISTICS 10,
    ALTER COLUMN number SET STATISTICS 10,
    ALTER COLUMN position SET STATISTICS 10,
    ALTER COLUMN title SET STATISTICS 0,
    ALTER COLUMN labels SET STATISTICS 0,
    ALTER COLUMN assignees SET STATISTICS 0,
    ALTER COLUMN due SET STATISTICS 10,
    ALTER COLUMN start SET STATISTICS 10,
    ALTER COLUMN priority SET STATISTICS 10,
    ALTER COLUMN estimate SET STATISTICS 0,
    ALTER COLUMN properties SET STATISTICS 0,
    ALTER COLUMN parent_card_id SET STATISTICS 10,
    ALTER COLUMN external_key SET STATISTICS 10,
    ALTER COLUMN is_archived SET STATISTICS 10,
    ALTER COLUMN in_trash SET STATISTICS 10,
    ALTER COLUMN completed_at SET STATISTICS 10,
    ALTER COLUMN created_time SET STATISTICS 10,
    ALTER COLUMN created_by SET STATISTICS 0,
    ALTER COLUMN last_edited_time SET STATISTICS 10,
    ALTER COLUMN last_edited_by SET STATISTICS 0,
    ALTER COLUMN version SET STATISTICS 0,
    ALTER COLUMN blocked_by SET STATISTICS 0,
    ALTER COLUMN block_count SET STATISTICS 0,
    ALTER COLUMN comment_count SET STATISTICS 0,
    ALTER COLUMN values_bytes SET STATISTICS 0,
    ALTER COLUMN shown_bytes SET STATISTICS 0,
    ALTER COLUMN due_key SET STATISTICS 10,
    ALTER COLUMN priority_key SET STATISTICS 10;

-- Likewise of rows that are changed in place (kernel's 0013).
ALTER TABLE board_counters SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE card_count_changes SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE stored_more SET (autovacuum_analyze_threshold = 10000);
