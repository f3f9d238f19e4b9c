-- By which what belongs to no workspace is found once it has ended.
CREATE INDEX personal_notifications_by_end ON personal_notifications (expires_at)
    WHERE expires_at IS NOT NULL;
