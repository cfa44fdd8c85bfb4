-- The keys that sign this catalog's tokens. The newest signs; the others still verify what they signed.
CREATE TABLE signing_keys (
    id          KEY_TEXT NOT NULL PRIMARY KEY,
    -- PKCS#8, encrypted under the server's secret key, which is not in the database; base64.
    private_key TEXT     NOT NULL,
    created_ms  BIGINT   NOT NULL
);
