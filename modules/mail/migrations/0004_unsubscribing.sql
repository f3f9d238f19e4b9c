-- Where whoever gets a mail may say that they want no more of its sort; gone once it is sent, as all
-- that it says.
ALTER TABLE mail_outbox ADD COLUMN unsubscribe text;
