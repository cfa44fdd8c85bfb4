-- What validation warned of: the latest of each warehouse.
CREATE TABLE warnings (
    -- Sorts by time.
    id           KEY_TEXT NOT NULL PRIMARY KEY,
    warehouse_id KEY_TEXT NOT NULL REFERENCES warehouses (id) ON DELETE CASCADE,
    -- The table's name then: levels joined by 0x1F, as in namespaces.name, and the name in it.
    namespace    KEY_TEXT NOT NULL,
    name         KEY_TEXT NOT NULL,
    -- What was done: commit or register.
    action       KEY_TEXT NOT NULL,
    rule         KEY_TEXT NOT NULL,
    -- 1: the rule's level is deny, and the rules were only logged.
    would_refuse BIGINT   NOT NULL,
    object       TEXT     NOT NULL,
    message      TEXT     NOT NULL,
    created_ms   BIGINT   NOT NULL
);

-- Serves the list, newest first, and finding those that are too many.
CREATE INDEX warnings_by_warehouse ON warnings (warehouse_id, id);
