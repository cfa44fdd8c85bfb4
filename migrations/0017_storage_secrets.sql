-- What a warehouse's own store is reached with, sealed with a key that is not in the database.
ALTER TABLE warehouses ADD COLUMN storage_secret TEXT;
