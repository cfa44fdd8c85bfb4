-- Tables that were dropped in a warehouse that keeps them for a while. Their locations stay live.
CREATE TABLE dropped_tables (
    -- As it was in tables, and will be again.
    id                KEY_TEXT NOT NULL PRIMARY KEY,
    warehouse_id      KEY_TEXT NOT NULL REFERENCES warehouses (id),
    -- No foreign key: the namespace may be dropped meanwhile.
    namespace         KEY_TEXT NOT NULL,
    name              KEY_TEXT NOT NULL,
    kind              KEY_TEXT NOT NULL CHECK (kind IN ('table', 'view')),
    uuid              TEXT     NOT NULL,
    format_version    BIGINT   NOT NULL,
    location          TEXT     NOT NULL,
    metadata_location TEXT     NOT NULL,
    version           BIGINT   NOT NULL,
    created_ms        BIGINT   NOT NULL,
    -- 1: its files are deleted when it expires.
    purge             BIGINT   NOT NULL,
    -- The task that ends its time here.
    task_id           TEXT     NOT NULL,
    dropped_ms        BIGINT   NOT NULL,
    expires_ms        BIGINT   NOT NULL
);

-- Serves the list of a warehouse.
CREATE INDEX dropped_tables_by_warehouse ON dropped_tables (warehouse_id, id);

-- Serves finding the one that had a name last.
CREATE INDEX dropped_tables_by_name ON dropped_tables (warehouse_id, namespace, name, dropped_ms);
