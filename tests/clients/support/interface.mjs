// What a document of the interface has, a line each: operations, what they take, and the fields of
// records, as docs/reference/changes.md names them.
export function interfaceOf(document) {
  const lines = new Set();
  const schemaOf = (schema) => (schema?.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema);
  for (const methods of Object.values(document.paths))
    for (const { operationId, parameters = [], requestBody } of Object.values(methods)) {
      lines.add(operationId);
      for (const { name } of parameters) if (name) lines.add(`${operationId}(${name})`);
      const body = schemaOf(requestBody?.content["application/json"].schema);
      for (const name of Object.keys(body?.properties ?? {})) lines.add(`${operationId}(${name})`);
    }
  for (const [record, schema] of Object.entries(document.components.schemas))
    for (const name of Object.keys(schema.properties ?? {})) lines.add(`${record}.${name}`);
  return [...lines].sort();
}

/** Names that one of the two has and the other does not, but what came with a whole operation. */
export function changed(before, now) {
  const had = new Set(before);
  const has = new Set(now);
  const among = (all) => (line) => !all.has(line) && !(line.includes("(") && !all.has(line.split("(")[0]));
  return { added: now.filter(among(had)), gone: before.filter(among(has)) };
}
