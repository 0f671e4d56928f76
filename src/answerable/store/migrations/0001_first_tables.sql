-- Runs, their events and capsules, threads with messages, and who owns which artifact.

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    thread_id TEXT,
    request_id TEXT,
    question TEXT,
    status TEXT NOT NULL,
    error_code TEXT,
    created_at TEXT NOT NULL,
    finished_at TEXT
);

CREATE INDEX runs_by_age ON runs (tenant_id, created_at, run_id);

CREATE INDEX runs_by_thread ON runs (tenant_id, thread_id, created_at, run_id);

CREATE INDEX runs_unfinished ON runs (created_at) WHERE finished_at IS NULL;

CREATE TABLE events (
    run_id TEXT NOT NULL REFERENCES runs (run_id),
    seq BIGINT NOT NULL,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE capsules (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id),
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    thread_id TEXT,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL
);

CREATE INDEX capsules_by_thread ON capsules (tenant_id, thread_id, created_at, run_id);

CREATE TABLE threads (
    thread_id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE INDEX threads_by_use ON threads (tenant_id, updated_at, thread_id);

CREATE TABLE messages (
    message_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads (thread_id),
    position BIGINT NOT NULL,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    run_id TEXT,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE INDEX messages_by_thread ON messages (thread_id, created_at, position);

CREATE TABLE artifacts (
    tenant_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, artifact_id, user_id)
) /* sqlite: WITHOUT ROWID */;
