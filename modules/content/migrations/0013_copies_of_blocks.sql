-- What the copy of a block on the copy of its card is called, whichever statement copies it.
CREATE FUNCTION copied_block_id(block uuid, card_copy uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN overlay(overlay(md5(block::text || card_copy::text) PLACING '8' FROM 13) PLACING '8' FROM 17)::uuid;
