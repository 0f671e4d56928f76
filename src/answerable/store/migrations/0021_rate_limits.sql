-- Requests that count against rate limits, and a row for each window that requests lock.

CREATE TABLE rate_windows (
    tenant_id TEXT NOT NULL,
    window_name TEXT NOT NULL,
    used_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (tenant_id, window_name)
) /* sqlite: WITHOUT ROWID */;

CREATE TABLE rate_requests (
    tenant_id TEXT NOT NULL,
    window_name TEXT NOT NULL,
    request_id TEXT NOT NULL,
    came_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (tenant_id, window_name, request_id)
) /* sqlite: WITHOUT ROWID */;

CREATE INDEX rate_requests_by_time ON rate_requests (tenant_id, window_name, came_at);
