-- The kernel counts them, in rate_windows. Windows that are open when this runs begin again.
DROP TABLE mail_counts;
DROP TABLE member_mails;
