-- People who can sign in, their sessions, one-time links, and attempts to sign in.

CREATE TABLE users (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    roles TEXT NOT NULL,
    attributes TEXT NOT NULL,
    password_hash TEXT,
    disabled_at TEXT,
    created_at TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE sessions (
    digest TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    client TEXT NOT NULL,
    created_at TEXT NOT NULL,
    used_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX sessions_by_user ON sessions (tenant_id, user_id);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE invitations (
    digest TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT,
    roles TEXT NOT NULL,
    expires_at TEXT NOT NULL
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE sign_in_attempts (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    failures BIGINT NOT NULL,
    open_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (open_at);
