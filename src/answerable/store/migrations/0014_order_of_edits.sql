-- The order in which edits of a source were made: a clock that is set back must not change it.

ALTER TABLE semantic_edits ADD COLUMN position BIGINT;

UPDATE semantic_edits SET position = (
    SELECT count(*) FROM semantic_edits e
    WHERE e.tenant_id = semantic_edits.tenant_id AND e.source = semantic_edits.source AND (
        e.made_at < semantic_edits.made_at OR (e.made_at = semantic_edits.made_at AND e.edit_id <= semantic_edits.edit_id)
    )
);

DROP INDEX semantic_edits_by_source;

CREATE INDEX semantic_edits_by_source ON semantic_edits (tenant_id, source, position);
