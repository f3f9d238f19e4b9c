-- What was uploaded, and where it hangs. The bytes are in the object store, under keys that begin
-- with the workspace and the file (modules/files/api.hpp).

-- There is no foreign key to the workspace: what was uploaded outlives it until the sweeper has
-- removed the bytes.
CREATE TABLE files (
    org_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'available', 'expired')),
    purpose text NOT NULL CHECK (
        purpose IN ('feedback_screenshot', 'attachment', 'avatar', 'icon', 'import', 'export')),
    filename text NOT NULL,
    content_type text NOT NULL,
    size_bytes bigint,               -- as declared, if it was; as found once it is available
    sha256 text,                     -- hex, once it is available
    object_id uuid,                  -- the end of its bytes' key, once it is available
    upload_ends_at timestamptz NOT NULL,
    committed_at timestamptz,
    deleted_at timestamptz,          -- gone for everybody but the sweeper
    sweep_at timestamptz,            -- when the sweeper has something to do; null: never
    created_by uuid NOT NULL,
    created_time timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX files_to_sweep ON files (org_id, sweep_at) WHERE sweep_at IS NOT NULL;
CREATE INDEX files_on_their_way ON files (org_id, created_by) WHERE status = 'pending';

-- The cards a file hangs on. Its holder is the card itself where it is attached to it, or else the
-- block or the comment on the card that shows it.
CREATE TABLE file_places (
    org_id uuid NOT NULL,
    file_id uuid NOT NULL,
    holder_id uuid NOT NULL,
    card_id uuid NOT NULL,
    id uuid NOT NULL,                -- in the order of hanging
    PRIMARY KEY (org_id, file_id, holder_id)
);
CREATE INDEX file_places_by_holder ON file_places (org_id, holder_id, id);
CREATE INDEX file_places_by_card ON file_places (org_id, card_id);

-- A file as it is shown, and behind that what only the module looks at. The links are the server's
-- to fill in.
CREATE VIEW file_view WITH (security_invoker = true) AS
SELECT
    f.org_id, f.id,
    CASE WHEN f.status = 'pending' AND f.upload_ends_at <= now() THEN 'expired' ELSE f.status END
        AS status,
    f.purpose, f.filename, f.content_type, f.size_bytes, f.sha256,
    NULL::text AS url, NULL::timestamptz AS url_expires_at,
    CASE WHEN f.status = 'pending' THEN f.upload_ends_at END AS expires_at,
    f.committed_at,
    json_build_object('object', 'user', 'id', f.created_by,
        'principal_type', coalesce(p.type, 'system'), 'name', p.name) AS created_by,
    f.created_time,
    f.object_id, f.created_by AS uploader, f.status AS kept_status, f.deleted_at, f.version
FROM files f
LEFT JOIN principals p ON p.org_id = f.org_id AND p.id = f.created_by;

ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE files FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON files
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());

ALTER TABLE file_places ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_places FORCE ROW LEVEL SECURITY;
CREATE POLICY by_org ON file_places
    USING (org_id = svc_org() OR svc_all_orgs()) WITH CHECK (org_id = svc_org() OR svc_all_orgs());
