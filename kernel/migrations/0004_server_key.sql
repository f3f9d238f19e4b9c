-- Which key the servers of this database sign with: a fingerprint, from which nothing follows about
-- the key. One row, written by the first server that starts.
CREATE TABLE server_key (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    fingerprint text NOT NULL,
    noted_at    timestamptz NOT NULL DEFAULT now()
);
