-- Which clients were seen on a table, and when last: at most one write an hour and client. They go with their table.
CREATE TABLE table_engines (
    table_id KEY_TEXT NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
    -- What the client says of itself.
    agent    KEY_TEXT NOT NULL,
    -- 0: never.
    read_ms  BIGINT   NOT NULL,
    wrote_ms BIGINT   NOT NULL,
    PRIMARY KEY (table_id, agent)
);
