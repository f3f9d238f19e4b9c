-- What goes with its workspace, and with its webhook.
ALTER TABLE webhooks
    ADD CONSTRAINT webhooks_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_webhook FOREIGN KEY (org_id, webhook_id)
        REFERENCES webhooks (org_id, id) ON DELETE CASCADE;
ALTER TABLE webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook FOREIGN KEY (org_id, webhook_id)
        REFERENCES webhooks (org_id, id) ON DELETE CASCADE;
