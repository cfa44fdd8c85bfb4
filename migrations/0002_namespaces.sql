-- A namespace is stored under its levels joined by 0x1F. The foreign keys make a nested one need its parent,
-- and make the drop of one that still has children fail, whoever races.
CREATE TABLE namespaces (
    warehouse_id KEY_TEXT NOT NULL REFERENCES warehouses (id),
    name         KEY_TEXT NOT NULL,
    -- NULL for a top-level namespace.
    parent       KEY_TEXT,
    -- JSON object of strings.
    properties   TEXT     NOT NULL,
    created_ms   BIGINT   NOT NULL,
    updated_ms   BIGINT   NOT NULL,
    PRIMARY KEY (warehouse_id, name),
    FOREIGN KEY (warehouse_id, parent) REFERENCES namespaces (warehouse_id, name)
);

-- Serves the list of a namespace's children page by page, and the check for children on drop.
CREATE INDEX namespaces_by_parent ON namespaces (warehouse_id, parent, name);
