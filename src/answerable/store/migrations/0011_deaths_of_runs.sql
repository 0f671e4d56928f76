-- How many processes died while they carried a run out, so that a run that kills them is not continued for ever.

ALTER TABLE runs ADD COLUMN deaths BIGINT NOT NULL DEFAULT 0;
