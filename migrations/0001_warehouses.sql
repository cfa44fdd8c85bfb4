-- A warehouse is a named place in object storage that holds namespaces.
CREATE TABLE warehouses (
    id         KEY_TEXT NOT NULL PRIMARY KEY,
    name       KEY_TEXT NOT NULL UNIQUE,
    -- The normal form of its URI; a client may name a warehouse by it.
    location   KEY_TEXT NOT NULL UNIQUE,
    -- JSON object: rule levels, allowed prefixes, ...
    properties TEXT     NOT NULL,
    status     KEY_TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
    -- Goes up with every change; an update names the version it read.
    version    BIGINT   NOT NULL,
    created_ms BIGINT   NOT NULL,
    updated_ms BIGINT   NOT NULL
);
