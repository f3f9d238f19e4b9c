-- Changed in place, over and over: it need not be looked at each time (kernel's 0013).
ALTER TABLE agent_usage SET (autovacuum_analyze_threshold = 10000);
