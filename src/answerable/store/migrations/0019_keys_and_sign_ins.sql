-- Keys of programs, sign-ins at a provider that have begun, and what a provider calls its accounts. Secrets are digests.

CREATE TABLE access_keys (
    digest TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at TEXT,
    revoked_at TEXT
) /* sqlite: WITHOUT ROWID */;

CREATE UNIQUE INDEX access_keys_by_id ON access_keys (tenant_id, key_id);

CREATE INDEX access_keys_by_user ON access_keys (tenant_id, user_id);

ALTER TABLE users ADD COLUMN subject TEXT;

CREATE TABLE sign_in_flows (
    state_digest TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    browser_digest TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    expires_at TEXT NOT NULL
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX sign_in_flows_by_expiry ON sign_in_flows (expires_at);
