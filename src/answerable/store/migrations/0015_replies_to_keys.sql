-- What a request with a client's key was answered with, and which process carries it out.

ALTER TABLE idempotency_keys ADD COLUMN owner TEXT;

ALTER TABLE idempotency_keys ADD COLUMN note TEXT;

ALTER TABLE idempotency_keys ADD COLUMN reply TEXT;
