-- An account whose address is confirmed: a new one, or the one that waited for it. Null when the
-- address is another's by now. The transaction acts for the address.
CREATE FUNCTION add_or_confirm_person(
    new_id uuid, address text, address_key text, full_name text, chosen jsonb
) RETURNS uuid
LANGUAGE sql AS $$
    INSERT INTO users (id, email, email_key, email_verified, name, preferences)
    VALUES (new_id, address, address_key, true, full_name, chosen)
    ON CONFLICT (email_key) DO UPDATE
    SET email = excluded.email,
        email_verified = true,
        name = coalesce(excluded.name, users.name),
        preferences = users.preferences || excluded.preferences,
        last_edited_time = now(),
        version = users.version + 1
    WHERE NOT users.email_verified
    RETURNING users.id
$$;
