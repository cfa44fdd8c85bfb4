-- What requests with an Idempotency-Key were answered. Written in the transaction of the change that it tells of.
CREATE TABLE idempotency_keys (
    -- The key: a UUIDv7 in lower case.
    id         KEY_TEXT NOT NULL PRIMARY KEY,
    -- Hash of the request that the key belongs to.
    request    TEXT     NOT NULL,
    status     BIGINT   NOT NULL,
    -- empty; body: the column holds it; table, view: made from a metadata file again.
    reply      KEY_TEXT NOT NULL CHECK (reply IN ('empty', 'body', 'table', 'view')),
    body       TEXT,
    -- Of the table or view, and where its metadata was when the request was answered.
    table_id   TEXT,
    metadata_location TEXT,
    -- From then on the key means nothing.
    expires_ms BIGINT   NOT NULL
);

-- Serves the sweep.
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_ms);
