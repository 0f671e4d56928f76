-- The process that is about to write an edit into its file; none once the file is known to hold it.

ALTER TABLE semantic_edits ADD COLUMN owner TEXT;
