-- Golden cases that were made from answers, and what each measuring of a set of cases gave.

CREATE TABLE eval_cases (
    tenant_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    case_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    made_at TEXT NOT NULL,
    run_id TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, suite, case_id)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE eval_runs (
    eval_id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    body TEXT NOT NULL
);

CREATE INDEX eval_runs_by_suite ON eval_runs (tenant_id, suite, started_at, eval_id);
