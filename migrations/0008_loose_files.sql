-- Metadata files that no table or view names: not yet, or not any more.
CREATE TABLE loose_files (
    id       KEY_TEXT NOT NULL PRIMARY KEY,
    location TEXT     NOT NULL,
    -- tables.id of the table or view that it is, or was, a file of.
    table_id TEXT     NOT NULL,
    -- noted: about to be written; the transaction that makes a pointer name it removes this row.
    -- unneeded: to be deleted. No pointer may name it from now on.
    state    KEY_TEXT NOT NULL CHECK (state IN ('noted', 'unneeded')),
    since_ms BIGINT   NOT NULL
);

-- Serves the sweep.
CREATE INDEX loose_files_by_age ON loose_files (state, since_ms);
