-- Every location that was handed out to a table or a view. A row outlives its table (no foreign key), because the
-- files of a table that was dropped without purge are still there.
CREATE TABLE locations (
    -- Normal form, without a slash at the end.
    location     KEY_TEXT NOT NULL,
    table_id     KEY_TEXT NOT NULL,
    warehouse_id KEY_TEXT NOT NULL,
    -- live: the table is there and this is its location. left-behind: files may be there, the table is not.
    state        KEY_TEXT NOT NULL CHECK (state IN ('live', 'left-behind')),
    -- 1: nothing else may be given this location or one that overlaps it. 0: recorded only (register, a location
    -- that the client asked for).
    exclusive    BIGINT   NOT NULL,
    created_ms   BIGINT   NOT NULL,
    updated_ms   BIGINT   NOT NULL,
    PRIMARY KEY (location, table_id)
);

-- Two creates that race for the very same location: one of them loses here.
CREATE UNIQUE INDEX locations_exclusive ON locations (location) WHERE exclusive = 1 AND state = 'live';

-- Serves the state change when a table is dropped or moved.
CREATE INDEX locations_by_table ON locations (table_id);
