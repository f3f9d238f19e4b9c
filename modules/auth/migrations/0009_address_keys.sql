-- Addresses are compared by another key from now on. Of those that are not plain ASCII, whose key may
-- be another, what waits for an hour or a day has to be asked for once more.
DELETE FROM sign_ups WHERE email_key ~ '[^\x01-\x7f]';
DELETE FROM password_resets WHERE email_key ~ '[^\x01-\x7f]';
