-- Threads can be pinned, shared and deleted, and runs tell what they asked, what came of it and what it cost.

ALTER TABLE threads ADD COLUMN pinned_at TEXT;

ALTER TABLE threads ADD COLUMN deleted_at TEXT;

ALTER TABLE threads ADD COLUMN share_token TEXT;

CREATE UNIQUE INDEX threads_by_share ON threads (share_token) WHERE share_token IS NOT NULL;

ALTER TABLE runs ADD COLUMN sources TEXT;

ALTER TABLE runs ADD COLUMN mode TEXT;

ALTER TABLE runs ADD COLUMN kind TEXT;

ALTER TABLE runs ADD COLUMN row_count BIGINT;

ALTER TABLE runs ADD COLUMN tokens BIGINT;

ALTER TABLE runs ADD COLUMN cost DOUBLE PRECISION;
