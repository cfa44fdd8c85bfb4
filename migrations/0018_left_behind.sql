-- The namespace of the table that left a location behind, when it left it: whoever takes the place up again needs to be
-- allowed to write there. NULL for live locations, and for those that were left behind before this migration.
ALTER TABLE locations ADD COLUMN namespace KEY_TEXT;
