-- Who did what, and what was refused. Not reads that were allowed: those are events of the log alone.
CREATE TABLE audit (
    -- Sorts by time.
    id         KEY_TEXT NOT NULL PRIMARY KEY,
    at_ms      BIGINT   NOT NULL,
    -- Empty where nobody said who they are.
    principal  TEXT     NOT NULL,
    -- Method and route.
    operation  TEXT     NOT NULL,
    path       TEXT     NOT NULL,
    -- The actions that the request came down to, each with its object.
    actions    TEXT     NOT NULL,
    decision   KEY_TEXT NOT NULL CHECK (decision IN ('allowed', 'denied')),
    -- The grant that allowed the last of the actions.
    grant_id   TEXT,
    status     BIGINT   NOT NULL,
    user_agent TEXT     NOT NULL,
    -- What the client calls its project; it allows nothing.
    project    TEXT     NOT NULL,
    request_id TEXT     NOT NULL
);

-- Serves the sweep.
CREATE INDEX audit_by_time ON audit (at_ms);
