-- Runs that wait wake up at a time; new runs can wait for a worker by priority; graphs have schedules.

ALTER TABLE runs ADD COLUMN wake_at TEXT;

ALTER TABLE runs ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;

CREATE TABLE schedules (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    graph TEXT NOT NULL,
    body TEXT NOT NULL,
    next_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX schedules_due ON schedules (next_at);
