-- Keys with which programs ask as somebody. Only digests of them are stored.

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
