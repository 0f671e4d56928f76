-- Runs are listed in the order in which they began, also after the clock was set back.

ALTER TABLE runs ADD COLUMN position BIGINT NOT NULL DEFAULT 0;

UPDATE runs SET position = numbered.place
FROM (
    SELECT run_id, row_number() OVER (PARTITION BY tenant_id ORDER BY created_at, run_id) AS place FROM runs
) AS numbered
WHERE runs.run_id = numbered.run_id;

CREATE INDEX runs_by_position ON runs (tenant_id, position, run_id);

DROP INDEX runs_by_thread;

CREATE INDEX runs_by_thread ON runs (tenant_id, thread_id, position, run_id);
