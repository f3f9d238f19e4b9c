// Blocks as the server has them, and as the editor does.
import { api, ask, type Schemas } from "../api/client";
import { everything } from "../api/queries";
import { newMutation } from "../api/mutations";
import { inWorkspace, tabOrg } from "../api/workspace";
import { linkless } from "./files";
import { deepest, flat, isText, type Block, type Op } from "./model";
import { richOf, spansOf } from "./rich";

type Rich = Schemas["RichText"];
type Given = Schemas["Block"];

const payloadOf = (given: Given) => ((given as unknown as Record<string, unknown>)[given.type] ?? {}) as Record<string, unknown>;

/** Fields of text blocks that are edited here, or that a block needs when it is made again. */
const edited = ["checked", "language", "color", "is_toggleable", "icon"];
/** Left out as it is left out of what is written here: else it would seem to be a difference. */
const isDefault = (name: string, value: unknown) => value === null || (name === "color" && value === "default") || (name === "is_toggleable" && value === false);

export function blockOf(given: Given): Block {
  const { rich_text, ...rest } = payloadOf(given) as { rich_text?: Rich[] };
  const children = (given.children ?? []).map(blockOf);
  if (!isText(given.type)) return { id: given.id, type: given.type, props: linkless(payloadOf(given)), content: [], children, version: given.version };
  const props = Object.fromEntries(edited.map((name) => [name, (rest as Record<string, unknown>)[name]] as const).filter(([name, value]) => value !== undefined && !isDefault(name, value)));
  const spans = spansOf(rich_text ?? []);
  // Code is shown as its letters alone, which is no change of it.
  const letters = spans.map(({ text }) => text).join("");
  const content = given.type === "code" ? (letters ? [{ text: letters }] : []) : spans;
  return { id: given.id, type: given.type, props, content, children, version: given.version };
}

export async function readBlocks(card: string, org = tabOrg()): Promise<Block[]> {
  const given = await everything((start_cursor) =>
    ask(api.GET("/v1/blocks/{parent_id}/children", { headers: inWorkspace(org), params: { path: { parent_id: card }, query: { depth: deepest, page_size: 100, start_cursor } } })), 10_000);
  return given.map(blockOf);
}

function shapeOf(block: Block, withChildren: boolean): Record<string, unknown> {
  const payload = isText(block.type)
    ? { ...block.props, rich_text: richOf(block.content) }
    : { ...block.props, ...(withChildren && block.children.length && { children: block.children.map((each) => shapeOf(each, true)) }) };
  return { type: block.type, [block.type]: payload };
}

function operationOf(op: Op, card: string): Schemas["BlockOperation"] {
  const place = (parent: string | null, after: string | null) => ({
    parent_id: parent ?? card,
    position: after === null ? { type: "start" as const } : { type: "after_block" as const, after_block: { id: after } },
  });
  if (op.op === "create") return { op: "create", id: op.block.id, ...place(op.parent, op.after), block: shapeOf(op.block, true) as never };
  if (op.op === "move") return { op: "move", id: op.id, ...place(op.parent, op.after) };
  if (op.op === "update") return { op: "update", id: op.block.id, version: op.was.version, block: shapeOf(op.block, false) as never };
  return { op: "delete", id: op.id, version: op.was.version };
}

/** Calls that are carried out together, or none of them, and once, however often they are sent. */
export interface Batch {
  ops: Op[];
  operations: Schemas["BlockOperation"][];
  key: string;
  /** When it was sent first, in milliseconds since 1970. */
  at?: number;
}

const most = { operations: 200, blocks: 500, letters: 500_000 };
const newBlocks = (op: Op): number => (op.op === "create" ? flat([op.block]).length : 0);

export function batchesOf(ops: Op[], card: string): Batch[] {
  const batches: Batch[] = [];
  let [blocks, letters] = [0, 0];
  for (const op of ops) {
    const operation = operationOf(op, card);
    const length = JSON.stringify(operation).length;
    let batch = batches.at(-1);
    if (!batch || batch.ops.length >= most.operations || blocks + newBlocks(op) > most.blocks || letters + length > most.letters) {
      batches.push((batch = { ops: [], operations: [], key: newMutation() }));
      [blocks, letters] = [0, 0];
    }
    batch.ops.push(op);
    batch.operations.push(operation);
    blocks += newBlocks(op);
    letters += length;
  }
  return batches;
}

const mostAlive = 60_000; // bytes that browsers send of a page that is gone

/** The versions of the blocks that it changed. Of a page that is being left a small one is sent all the same. */
export async function sendBatch(card: string, org: string | undefined, { operations, key }: Batch, isLeaving: boolean): Promise<Map<string, number>> {
  const { results } = await ask(api.POST("/v1/cards/{card_id}/blocks:batch", {
    headers: inWorkspace(org), params: { path: { card_id: card }, header: { "X-Svc-Mutation": key, "Idempotency-Key": key } },
    body: { operations },
    keepalive: isLeaving && new Blob([JSON.stringify(operations)]).size < mostAlive,
  }));
  return new Map(results.map(({ id, version }) => [id, version]));
}
