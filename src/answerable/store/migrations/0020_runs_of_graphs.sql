-- Runs know the version of their graph and how many of its runs may work at once; breakers are shared.

ALTER TABLE runs ADD COLUMN graph_version BIGINT;

ALTER TABLE runs ADD COLUMN at_once BIGINT;

CREATE TABLE breakers (
    target TEXT PRIMARY KEY,
    failures BIGINT NOT NULL,
    opened_at TEXT,
    reason TEXT
) /* sqlite: WITHOUT ROWID */;
