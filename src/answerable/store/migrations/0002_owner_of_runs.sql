-- Which process carries a run out, so that only runs of dead processes are continued by others.

ALTER TABLE runs ADD COLUMN owner TEXT;
