-- Cards that wait for somebody to look at them, for /metrics to count.
CREATE INDEX queue_exhausted ON queue (org_id) WHERE state = 'exhausted';
CREATE INDEX queue_held ON queue (org_id) WHERE state = 'held';
