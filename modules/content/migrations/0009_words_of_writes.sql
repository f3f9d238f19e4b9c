-- Functions in SQL are read and put in place anew each time a statement runs that writes a generated
-- column; what one in PL/pgSQL does is planned once a connection. It answers what it did.
CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$ BEGIN RETURN to_tsvector('simple'::regconfig, search_escaped(left(said, 50000))); END $$;
