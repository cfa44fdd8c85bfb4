-- Work that is done after its request was answered. Queued in the transaction of the change that calls for it; any
-- server does it.
CREATE TABLE tasks (
    -- Begins with the time it was made at, so that ids sort by age. The tasks that come again and again have names.
    id           KEY_TEXT NOT NULL PRIMARY KEY,
    kind         KEY_TEXT NOT NULL,
    -- For people: what it is about.
    subject      TEXT     NOT NULL,
    -- No foreign key: a task outlives its warehouse.
    warehouse_id TEXT,
    -- JSON object: what is to be done.
    payload      TEXT     NOT NULL,
    -- JSON object: how far it is.
    progress     TEXT     NOT NULL,
    state        KEY_TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    -- When it may be taken: queued ones from then on, running ones because their lease has run out. NULL: never.
    due_ms       BIGINT,
    -- Who works on it: a fresh uuid each time it is taken.
    lease        TEXT,
    -- How often it was taken since it was queued.
    attempts     BIGINT   NOT NULL,
    -- Why the last attempt failed.
    error        TEXT,
    created_ms   BIGINT   NOT NULL,
    updated_ms   BIGINT   NOT NULL
);

-- Serves the question what is due, which every server asks every few seconds.
CREATE INDEX tasks_due ON tasks (due_ms);

-- Serves the list of one state.
CREATE INDEX tasks_by_state ON tasks (state, id);

-- What happened to a task, the latest few entries.
CREATE TABLE task_log (
    task_id KEY_TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    -- Counts up.
    entry   BIGINT   NOT NULL,
    at_ms   BIGINT   NOT NULL,
    message TEXT     NOT NULL,
    PRIMARY KEY (task_id, entry)
);
