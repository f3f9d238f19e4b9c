-- Links that show a board, or one card of it, to whoever has them.
CREATE TABLE share_links (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    board_id uuid NOT NULL,
    card_id uuid,                                     -- null: the whole board
    digest text NOT NULL,                             -- SHA-256 of the token, which is nowhere
    password_hash text,
    hidden_properties jsonb NOT NULL DEFAULT '[]',    -- their ids
    expires_at timestamptz,
    revoked_at timestamptz,
    view_count bigint NOT NULL DEFAULT 0,
    created_time timestamptz NOT NULL DEFAULT now(),
    created_by jsonb NOT NULL,                        -- a PrincipalRef, as shown
    last_edited_time timestamptz NOT NULL DEFAULT now(),
    last_edited_by jsonb NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX share_links_by_digest ON share_links (org_id, digest);
CREATE INDEX share_links_by_board ON share_links (org_id, board_id, id);

ALTER TABLE share_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE share_links FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON share_links
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
