-- Texts that people keep in versions: graphs as before, and agents. What they are is said by `noun`.

CREATE TABLE versioned_texts (
    tenant_id TEXT NOT NULL,
    noun TEXT NOT NULL,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    tags TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, noun, name)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE text_versions (
    tenant_id TEXT NOT NULL,
    noun TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    user_id TEXT NOT NULL,
    made_at TEXT NOT NULL,
    note TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, noun, name, version)
) /* sqlite: WITHOUT ROWID */;

INSERT INTO versioned_texts (tenant_id, noun, name, owner_id, tags, version, created_at, updated_at)
SELECT tenant_id, 'graph', name, owner_id, tags, version, created_at, updated_at FROM graphs;

INSERT INTO text_versions (tenant_id, noun, name, version, user_id, made_at, note, body)
SELECT tenant_id, 'graph', name, version, user_id, made_at, note, body FROM graph_versions;

DROP TABLE graph_versions;

DROP TABLE graphs;
