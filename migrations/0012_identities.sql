-- Built-in identities: who may ask this server for tokens. A name is never given twice, so what is written under it
-- (grants, the audit log) never comes to mean somebody else.
CREATE TABLE identities (
    name        KEY_TEXT NOT NULL PRIMARY KEY,
    -- active or revoked.
    status      TEXT     NOT NULL,
    -- One credential an identity: the argon2id hash of a client secret, in PHC form ..
    secret_hash TEXT,
    -- .. or the public half of a service account's RSA key, as a JWK, with the address that its assertions are for.
    key_id      TEXT,
    public_key  TEXT,
    token_uri   TEXT,
    -- Counts what makes earlier tokens void: a new credential, a revocation.
    version     BIGINT   NOT NULL,
    created_ms  BIGINT   NOT NULL,
    updated_ms  BIGINT   NOT NULL
);
