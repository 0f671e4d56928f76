-- Who carries a run out is a lease that any process of any machine can check, and requests to a run are rows.

CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    renewed DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL
) /* sqlite: WITHOUT ROWID */;

ALTER TABLE runs ADD COLUMN token BIGINT NOT NULL DEFAULT 0;

CREATE TABLE run_requests (
    request_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    made_at TEXT NOT NULL,
    taken_at TEXT
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX run_requests_open ON run_requests (run_id, made_at) WHERE taken_at IS NULL;
