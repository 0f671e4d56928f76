-- What was spent on language models, by account and period, and what calls in progress have reserved.

CREATE TABLE budgets (
    tenant_id TEXT NOT NULL,
    account TEXT NOT NULL,
    period TEXT NOT NULL,
    tokens_limit BIGINT,
    cost_limit BIGINT,
    tokens_spent BIGINT NOT NULL,
    cost_spent BIGINT NOT NULL,
    tokens_reserved BIGINT NOT NULL,
    cost_reserved BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, account, period)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE reservations (
    reservation_id TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    account TEXT NOT NULL,
    period TEXT NOT NULL,
    owner TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    made_at TEXT NOT NULL,
    PRIMARY KEY (reservation_id, tenant_id, account, period)
) /* sqlite: WITHOUT ROWID */;
