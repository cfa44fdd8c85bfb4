-- KEY_TEXT is TEXT that compares byte by byte. SQLite takes any type whose name holds TEXT as text and compares bytes
-- anyway; PostgreSQL would compare by the database's language, so pages would come in another order, a range over
-- locations would be wrong, and indexes would depend on the C library's version. One domain makes both the same.
-- Runs before the numbered migrations, on PostgreSQL only, and may run many times and at once.
DO $$
BEGIN
    PERFORM pg_advisory_xact_lock(7453982130945);
    IF to_regtype('key_text') IS NULL THEN
        CREATE DOMAIN key_text AS TEXT COLLATE "C";
    END IF;
END
$$
