-- Who may do what on what. A grant counts for what its object holds, too.
CREATE TABLE grants (
    id           KEY_TEXT NOT NULL PRIMARY KEY,
    grantee_kind KEY_TEXT NOT NULL CHECK (grantee_kind IN ('user', 'role')),
    grantee      KEY_TEXT NOT NULL,
    privilege    KEY_TEXT NOT NULL,
    -- The branch or tag that the privilege is about; empty where it is about none.
    ref_name     KEY_TEXT NOT NULL,
    -- The object: all three NULL for the server, else a warehouse and one of the others or none.
    warehouse_id KEY_TEXT REFERENCES warehouses (id) ON DELETE CASCADE,
    namespace    KEY_TEXT,
    -- tables.id of a table or view. No foreign key: grants on a dropped table wait for it while it may come back.
    table_id     KEY_TEXT,
    -- The object once more, as one text that is never NULL: what the unique key needs.
    object       KEY_TEXT NOT NULL,
    created_by   TEXT     NOT NULL,
    created_ms   BIGINT   NOT NULL,
    UNIQUE (grantee_kind, grantee, object, privilege, ref_name),
    FOREIGN KEY (warehouse_id, namespace) REFERENCES namespaces (warehouse_id, name) ON DELETE CASCADE
);

-- Serves the drop of a namespace or warehouse.
CREATE INDEX grants_by_namespace ON grants (warehouse_id, namespace);
-- Serves the drop and the rename of a table.
CREATE INDEX grants_by_table ON grants (table_id);

-- Goes up with every change of grants, or of the name of a table that has some. Queries for a table's pointer answer it
-- too, so that every server notices at once that what it keeps in memory is old.
CREATE TABLE grants_version (
    id      BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO grants_version (id, version) VALUES (1, 1);

-- Who gives a table its location takes the turn of the bucket first: of two that race for places that overlap, the later
-- one sees the earlier one's.
CREATE TABLE location_turns (
    -- The scheme and the bucket: `gs://bucket`, `file://`.
    bucket KEY_TEXT NOT NULL PRIMARY KEY,
    taken  BIGINT   NOT NULL
);
