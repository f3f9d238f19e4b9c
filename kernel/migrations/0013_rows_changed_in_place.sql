-- Rows of which there are few and that every event changes. How they spread stays the same, and each
-- ANALYZE has every session plan anew what reads them; twenty changes were worth one, every five
-- seconds.
ALTER TABLE event_heads SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE event_board_heads SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE event_position SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE event_consumers SET (autovacuum_analyze_threshold = 10000);
ALTER TABLE jobs SET (autovacuum_analyze_threshold = 10000);
