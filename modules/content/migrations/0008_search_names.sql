ALTER FUNCTION tamed(text) RENAME TO search_escaped;
ALTER FUNCTION untamed(text) RENAME TO search_unescaped;
