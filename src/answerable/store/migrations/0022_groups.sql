-- What a directory says of its users, and the groups that it sends.

ALTER TABLE users ADD COLUMN profile TEXT;

CREATE TABLE user_groups (
    tenant_id TEXT NOT NULL,
    group_id TEXT NOT NULL,
    name TEXT NOT NULL,
    external_id TEXT,
    members TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, group_id)
) /* sqlite: WITHOUT ROWID */;
