-- Which run a client's key stands for, so that a client that asks again gets the same run.

CREATE TABLE idempotency_keys (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    client_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    run_id TEXT NOT NULL,
    made_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, client_key)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (made_at);
