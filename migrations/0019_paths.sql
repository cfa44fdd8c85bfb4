-- home: where a table or view lives. path: another place where its `write.*.path` properties have files go; several tables
-- may share one.
ALTER TABLE locations ADD COLUMN kind KEY_TEXT NOT NULL DEFAULT 'home';
