-- What a provider calls its accounts, and sign-ins at a provider that have begun.

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
