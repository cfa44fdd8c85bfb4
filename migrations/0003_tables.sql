-- Tables and views: they share one identifier space, so they share one unique key.
CREATE TABLE tables (
    -- Ours, not Iceberg's uuid: it stays when a register replaces the table's metadata.
    id                KEY_TEXT NOT NULL PRIMARY KEY,
    warehouse_id      KEY_TEXT NOT NULL,
    -- Levels joined by 0x1F, as in namespaces.name.
    namespace         KEY_TEXT NOT NULL,
    name              KEY_TEXT NOT NULL,
    kind              KEY_TEXT NOT NULL CHECK (kind IN ('table', 'view')),
    uuid              TEXT     NOT NULL,
    format_version    BIGINT   NOT NULL,
    -- As in the metadata, letter for letter.
    location          TEXT     NOT NULL,
    metadata_location TEXT     NOT NULL,
    -- Goes up with every change of the row; a swap names the version it read.
    version           BIGINT   NOT NULL,
    created_ms        BIGINT   NOT NULL,
    updated_ms        BIGINT   NOT NULL,
    -- Serves look-ups and, with a filter on kind, lists. It is the only index that begins with these columns: beside a
    -- second one PostgreSQL, before its first ANALYZE, took the wrong one for look-ups and read the whole namespace.
    UNIQUE (warehouse_id, namespace, name),
    FOREIGN KEY (warehouse_id, namespace) REFERENCES namespaces (warehouse_id, name)
);
