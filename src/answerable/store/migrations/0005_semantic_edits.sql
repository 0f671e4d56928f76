-- Who changed what is said about a source, when, and how it read before.

CREATE TABLE semantic_edits (
    edit_id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    source TEXT NOT NULL,
    made_at TEXT NOT NULL,
    note TEXT NOT NULL,
    before_text TEXT NOT NULL,
    after_text TEXT NOT NULL
);

CREATE INDEX semantic_edits_by_source ON semantic_edits (tenant_id, source, made_at, edit_id);
