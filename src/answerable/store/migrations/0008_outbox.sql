-- What must be delivered at least once is written in the commit of the events that it tells of.

CREATE TABLE outbox (
    stream TEXT NOT NULL,
    number BIGINT NOT NULL,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    body TEXT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL,
    owner TEXT,
    attempts BIGINT NOT NULL DEFAULT 0,
    due_at TEXT,
    delivered_at TEXT,
    PRIMARY KEY (stream, number)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX outbox_open ON outbox (made_at, stream, number) WHERE delivered_at IS NULL;
