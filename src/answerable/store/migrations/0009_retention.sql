-- When periodic work was last done and by whom, and what a run must be looked up by before it is removed.

CREATE TABLE jobs (
    name TEXT PRIMARY KEY,
    owner TEXT,
    ran_at TEXT,
    report TEXT
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX messages_by_run ON messages (run_id) WHERE run_id IS NOT NULL;

CREATE INDEX eval_cases_by_run ON eval_cases (run_id) WHERE run_id IS NOT NULL;
