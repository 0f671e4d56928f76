-- Where a run was when it was last claimed: deaths count only while no step ends.

ALTER TABLE runs ADD COLUMN claimed_seq BIGINT NOT NULL DEFAULT 0;
