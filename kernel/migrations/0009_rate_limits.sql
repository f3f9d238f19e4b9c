-- How often something was done since a window opened, for limits that hold over all servers
-- (svc/rate_limit.hpp). Belongs to no workspace: most of it is counted before anybody is known.
CREATE TABLE rate_windows (
    reason    text NOT NULL,           -- what is limited
    key       bytea NOT NULL CHECK (length(key) = 32),  -- SHA-256 of a secret and what is counted
    count     integer NOT NULL DEFAULT 1,
    opened_at timestamptz NOT NULL,
    ends_at   timestamptz NOT NULL,
    PRIMARY KEY (reason, key)
) WITH (fillfactor = 80);
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
