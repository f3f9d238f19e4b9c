// What was done here and has no answer yet, over what the server says of a card: what it says of the card as it was
// before does not take back what is on its way.
import type { Card } from "./store";

/** Something that was done here and has no answer yet. */
export type Mutation = symbol;
type Fields = Partial<Card>;

export class Layers {
  /** Of cards that have any: how the server has them, and the layers, the latest last. */
  private readonly all = new Map<string, { base: Card; layers: readonly { mutation: Mutation; fields: Fields }[] }>();

  has = (id: string) => this.all.has(id);
  base = (id: string): Card | undefined => this.all.get(id)?.base;

  /** The card as it shows, when this is how the server has it, `done` needs no layer any more, and `fields` are a
      layer of theirs. */
  put(base: Card, done?: Mutation, fields?: Fields): Card {
    const { id } = base;
    const before = this.all.get(id)?.layers ?? [];
    const rest = before.filter(({ mutation }) => mutation !== done);
    const layers = done && fields ? [...rest, { mutation: done, fields: { ...this.fields(id, done), ...fields } }] : rest;
    if (layers.length) this.all.set(id, { base, layers });
    else this.all.delete(id);
    return layers.reduce((card, layer) => ({ ...card, ...layer.fields }), base);
  }

  /** The cards that a mutation has a layer on. */
  of = (mutation: Mutation): string[] => [...this.all.keys()].filter((id) => this.fields(id, mutation));
  fields = (id: string, mutation: Mutation): Fields | undefined => this.all.get(id)?.layers.find((each) => each.mutation === mutation)?.fields;
}
