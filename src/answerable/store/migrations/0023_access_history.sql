-- Versions of the access rules, and what people ask to be allowed.

CREATE TABLE access_versions (
    tenant_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    user_id TEXT,
    seen_at TEXT NOT NULL,
    note TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, version)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE access_requests (
    tenant_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    wanted TEXT NOT NULL,
    reason TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT,
    decided_at TEXT,
    role TEXT,
    expires_at TEXT,
    note TEXT NOT NULL,
    PRIMARY KEY (tenant_id, request_id)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX access_requests_by_state ON access_requests (tenant_id, state);
