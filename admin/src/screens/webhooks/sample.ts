// What a webhook is sent, made of what the server says of its events: for those who write the other end.
import type { Schemas } from "../../api/client";

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
}
const deepest = 4; // things within things

const texts: Record<string, string> = {
  uuid: "0197a3c0-5f3e-7c1b-9a52-1f0f6f8f3b14", "date-time": "2026-06-19T12:00:00.000Z", date: "2026-06-19", uri: "https://example.com", email: "ada@example.com",
};

/** One value that fits the schema. */
export function sampleOf(schema: Schema, root: Schema = schema, depth = 0): unknown {
  if (schema.$ref) return sampleOf(root.$defs?.[schema.$ref.split("/").at(-1)!] ?? {}, root, depth);
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choices = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== "null");
  if (choices?.length) return sampleOf(choices[0]!, root, depth);
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== "null") : schema.type;
  if (depth > deepest) return null;
  switch (type) {
    case "object": return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, sampleOf(each, root, depth + 1)]));
    case "array": return schema.items ? [sampleOf(schema.items, root, depth + 1)] : [];
    case "string": return texts[schema.format ?? ""] ?? "…";
    case "integer": case "number": return 1;
    case "boolean": return false;
    default: return null;
  }
}

/** Whether a list of events, such as `card.*`, takes this kind. */
export const takes = (events: readonly string[], kind: string) =>
  events.some((each) => each === "*" || each === kind || each === `${kind.split(".")[0]}.*`);

/** The body of a delivery. */
export const deliverySample = ({ kind, data_schema }: Schemas["EventKindInfo"], org_id: string, api_version: string) => ({
  object: "event", event_id: texts.uuid, kind, api_version, org_id, board_id: texts.uuid, sequence: 1, board_sequence: 1,
  actor: { object: "principal", id: texts.uuid, principal_type: "user", name: "Ada" },
  occurred_at: texts["date-time"], mutation_id: null, cause: null, data: sampleOf(data_schema as Schema),
});
