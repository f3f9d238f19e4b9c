// What was done here and has no answer yet, over what the server says of a card: what it says of the card as it was
// before does not take back what is on its way.
import type { Card } from "./store";

/** Something that was done here and has no answer yet. */
export type Mutation = symbol;
type Fields = Partial<Card>;
interface Layer {
  mutation: Mutation;
  fields: Fields;
  /** The server's, when it was done. */
  version: number;
}

export class Layers {
  /** Of cards that have any: how the server has them, and the layers, the latest last. */
  private readonly all = new Map<string, { base: Card; layers: readonly Layer[] }>();

  base = (id: string): Card | undefined => this.all.get(id)?.base;

  /** The card as it shows when the server has it so. */
  put = (base: Card): Card => this.set(base, this.layersOn(base.id));

  /** With these fields over it, as somebody has just done here. */
  add(base: Card, mutation: Mutation, fields: Fields): Card {
    const all = { ...this.layer(base.id, mutation)?.fields, ...fields };
    return this.set(base, [...this.without(base.id, mutation), { mutation, fields: all, version: base.version }]);
  }

  /** Without what was done by a mutation, as it was refused. */
  remove = (base: Card, mutation: Mutation): Card => this.set(base, this.without(base.id, mutation));

  /** The server has done it: what it has now covers also what was done to the same fields before, whose answer is late. */
  settle(base: Card, mutation: Mutation): Card {
    const layers = this.layersOn(base.id);
    const at = layers.findIndex((each) => each.mutation === mutation);
    const names = Object.keys(layers[at]?.fields ?? {});
    const earlier = layers.slice(0, Math.max(0, at)).map((each) => ({ ...each, fields: Object.fromEntries(Object.entries(each.fields).filter(([name]) => !names.includes(name))) }));
    return this.set(base, [...earlier.filter(({ fields }) => Object.keys(fields).length), ...layers.slice(at + 1)]);
  }

  private layersOn = (id: string) => this.all.get(id)?.layers ?? [];
  private without = (id: string, gone: Mutation) => this.layersOn(id).filter(({ mutation }) => mutation !== gone);

  private set(base: Card, layers: readonly Layer[]): Card {
    const { id } = base;
    if (layers.length) this.all.set(id, { base, layers });
    else this.all.delete(id);
    return layers.reduce((card, layer) => ({ ...card, ...layer.fields }), base);
  }

  /** The cards that a mutation has a layer on. */
  of = (mutation: Mutation): string[] => [...this.all.keys()].filter((id) => this.layer(id, mutation));

  /** The card as the server has it by now, when it has done this: what was heard of it since says so itself. */
  done(base: Card, mutation: Mutation): Card {
    const own = this.layer(base.id, mutation);
    return own?.version === base.version ? { ...base, ...own.fields } : base;
  }

  private layer = (id: string, mutation: Mutation) => this.layersOn(id).find((each) => each.mutation === mutation);
}
