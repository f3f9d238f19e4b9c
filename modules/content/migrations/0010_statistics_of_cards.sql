-- The sample for a table is as large as its most demanding column wants; those of boards are modest.
ALTER TABLE cards
    ALTER COLUMN words SET STATISTICS 10,
    ALTER COLUMN content_bytes SET STATISTICS 0;
