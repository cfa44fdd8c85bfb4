-- What engines report on scans and commits: the latest of each table. They go with their table.
CREATE TABLE metrics_reports (
    id          KEY_TEXT NOT NULL PRIMARY KEY,
    table_id    KEY_TEXT NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
    -- JSON object, as it was sent.
    report      TEXT     NOT NULL,
    received_ms BIGINT   NOT NULL
);

-- Serves the list, newest first, and finding those that are too many.
CREATE INDEX metrics_reports_by_table ON metrics_reports (table_id, received_ms, id);
