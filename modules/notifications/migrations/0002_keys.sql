-- What goes with its workspace, and with its card.
ALTER TABLE notification_inboxes
    ADD CONSTRAINT notification_inboxes_org FOREIGN KEY (org_id)
        REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE notifications
    ADD CONSTRAINT notifications_org FOREIGN KEY (org_id) REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE personal_notifications
    ADD CONSTRAINT personal_notifications_person FOREIGN KEY (user_id)
        REFERENCES users (id) ON DELETE CASCADE,
    ADD CONSTRAINT personal_notifications_org FOREIGN KEY (about_org)
        REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE notification_counts
    ADD CONSTRAINT notification_counts_org FOREIGN KEY (org_id)
        REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE notification_work
    ADD CONSTRAINT notification_work_org FOREIGN KEY (org_id)
        REFERENCES orgs (id) ON DELETE CASCADE;
ALTER TABLE notification_due_cards
    ADD CONSTRAINT notification_due_cards_card FOREIGN KEY (org_id, card_id)
        REFERENCES cards (org_id, id) ON DELETE CASCADE;
