-- Graphs that users drew, with every version of their text.

CREATE TABLE graphs (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    tags TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE graph_versions (
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    user_id TEXT NOT NULL,
    made_at TEXT NOT NULL,
    note TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name, version)
) /* sqlite: WITHOUT ROWID */;
