-- Boards of which a label, a property or an option has changed, and whose older cards still show it
-- as it was: they follow batch by batch, the newest first
-- (docs/decisions/0034-cards-follow-a-changed-definition.md).
CREATE TABLE card_rewrites (
    org_id uuid NOT NULL,
    board_id uuid NOT NULL,
    below bigint NOT NULL,  -- cards of this number and above show what there is now
    PRIMARY KEY (org_id, board_id)
);

ALTER TABLE card_rewrites ENABLE ROW LEVEL SECURITY;
ALTER TABLE card_rewrites FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON card_rewrites
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
