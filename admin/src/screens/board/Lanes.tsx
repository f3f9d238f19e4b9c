import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState, type MouseEvent } from "react";
import { isKeyAllowed } from "../../app/commands";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { Face } from "../../parts/Who";
import { moveToLane } from "./actions";
import { useBoard, useBoardRecord, useColumnOrder, useStoreVersion } from "./context";
import { DragEngine } from "./drag";
import { pressOnChosen } from "./keyboard";
import { lanesOf, ways, type By, type Lane } from "./lanes";
import { Tile } from "./Tile";
import { archiveFrom, clickOn, useCardKeys } from "./useCardKeys";

const most = 8; // cards of a cell that are shown until somebody wants more

/** The columns side by side, in lanes below each other; only lanes in sight are drawn. */
export default function Lanes({ by, onBy, onMove }: { by: By; onBy: (by: By) => void; onMove: (cards: string[]) => void }) {
  const board = useBoard();
  const { store, canEdit, open } = board;
  const order = useColumnOrder(store);
  const version = useStoreVersion();
  const { labels } = useBoardRecord(store); // which have lanes
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const lanes = useMemo(() => lanesOf(store, by), [store, by, version, labels]);
  const current = useRef(lanes);
  current.current = lanes;
  const root = useRef<HTMLDivElement>(null);
  const live = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState("");
  const virtualizer = useVirtualizer({ count: lanes.length, getScrollElement: () => root.current, estimateSize: () => 190, overscan: 2, getItemKey: (at) => lanes[at]!.id });

  const engine = useMemo(() => new DragEngine(store, {
    say: (words) => { if (live.current) live.current.textContent = words; },
    picked: setFocused,
    dropped: (cards, column, index, lane) => {
      const to = current.current.find(({ id }) => id === lane);
      if (to) void moveToLane(store, cards, { by, lane: to, column, index });
    },
  }), [store, by]);
  useEffect(() => (canEdit && root.current ? engine.attach(root.current) : undefined), [engine, canEdit]);

  const tiles = () => [...(root.current?.querySelectorAll<HTMLElement>("[data-card]") ?? [])];
  const tileOf = (id: string) => tiles().find((tile) => tile.dataset.card === id);
  const columnOf = (tile: HTMLElement) => order.indexOf(tile.closest<HTMLElement>("[data-cell]")!.dataset.cell!);
  const columnBy = (from: HTMLElement) => tiles().filter((tile) => columnOf(tile) === columnOf(from));
  const cardsBy = (tile: HTMLElement) => columnBy(tile).map((each) => each.dataset.card!);
  /** The nearest card that way: below and above in the same column, beside in the same lane. */
  const step = (from: HTMLElement, key: string): HTMLElement | undefined => {
    const laneOf = (tile: HTMLElement) => tile.closest("[data-lane]");
    if (/^(ArrowDown|ArrowUp|j|k)$/.test(key)) {
      const own = columnBy(from);
      return own[own.indexOf(from) + (/^(ArrowDown|j)$/.test(key) ? 1 : -1)];
    }
    const by = /^(ArrowRight|l)$/.test(key) ? 1 : -1;
    const beside = tiles().filter((tile) => laneOf(tile) === laneOf(from) && (columnOf(tile) - columnOf(from)) * by > 0);
    return (by > 0 ? beside : beside.reverse()).find((tile, _, all) => columnOf(tile) === columnOf(all[0]!));
  };
  const archive = (cards: string[]) => {
    const tile = tileOf(cards[0]!);
    archiveFrom(store, tile ? cardsBy(tile) : [], cards, cardKeys.focus);
  };
  const press = (id: string, key: string) => {
    const tile = tileOf(id);
    if (!tile || !isKeyAllowed(key)) return false;
    if (!/^(Arrow(Up|Down|Left|Right)|[hjkl])$/.test(key)) return pressOnChosen({ store, canEdit, open, move: onMove, archive }, id, key);
    const next = step(tile, key)?.dataset.card;
    if (next) cardKeys.focus(next);
    return true;
  };
  const onClick = (event: MouseEvent) => {
    const tile = (event.target as HTMLElement).closest<HTMLElement>("[data-card]");
    if (!tile) return;
    clickOn(board, event, tile.dataset.card!, { order: cardsBy(tile), anchor: cardKeys.anchor.current });
  };
  const toggle = (id: string) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const first = focused && store.place(focused) ? focused : (lanes.find(({ count }) => count)?.cells.get(order.find((column) => lanes.find(({ count }) => count)!.cells.has(column)) ?? "")?.[0] ?? "");
  const cardKeys = useCardKeys(root, { press, first, reveal: (id) => tileOf(id)?.scrollIntoView({ block: "nearest", inline: "nearest" }) });
  const columns = `repeat(${order.length}, minmax(0, 1fr))`;
  const minWidth = `calc(${order.length} * 14.5rem)`;
  const names: Record<By, string> = { assignee: t("Assigned to"), label: t("Label"), priority: t("Priority") };
  return (
    <div className="lanes-view">
      <div className="row lanes-by" role="group" aria-label={t("Lanes by")}>
        <span className="soft small">{t("Lanes by")}</span>
        {ways.map((each) => <button key={each} type="button" className="button quiet small" aria-pressed={by === each} onClick={() => onBy(each)}>{names[each]}</button>)}
      </div>
      <div className="lanes" ref={root} {...cardKeys.handlers} onClick={onClick} tabIndex={-1}
        onFocus={(event) => { const id = (event.target as HTMLElement).dataset?.card; if (id) setFocused(id); }}>
        <div className="lane-columns" aria-hidden="true" style={{ gridTemplateColumns: columns, minWidth }}>{order.map((id) => <span key={id} className="clip" title={store.column(id)?.name}>{store.column(id)?.name}</span>)}</div>
        <div style={{ height: virtualizer.getTotalSize(), position: "relative", minWidth }}>
          {virtualizer.getVirtualItems().map((item) => {
            const lane = lanes[item.index]!;
            const isClosed = closed.has(lane.id);
            return (
              <section key={lane.id} className="lane" data-lane={lane.id} data-index={item.index} ref={virtualizer.measureElement} aria-labelledby={`lane-${lane.id}`} style={{ transform: `translateY(${item.start}px)` }}>
                <button type="button" className="button quiet small" aria-expanded={!isClosed} onClick={() => toggle(lane.id)}>
                  <Icon name={isClosed ? "right" : "down"} />{lane.who && <Face who={lane.who} decorative />}<strong id={`lane-${lane.id}`}>{lane.name}</strong><span className="tag">{lane.count}</span>
                </button>
                {!isClosed && <div className="lane-cells" style={{ gridTemplateColumns: columns }}>{order.map((column) => <Cell key={column} engine={engine} lane={lane} column={column} first={first} />)}</div>}
              </section>
            );
          })}
        </div>
      </div>
      <div ref={live} className="unseen" role="status" aria-live="assertive" />
      <p id="board-help" className="unseen">{t("Enter opens the card. Arrow keys go to others. X selects it, M moves it by a dialog.")}</p>
    </div>
  );
}

function Cell({ engine, lane, column, first }: { engine: DragEngine; lane: Lane; column: string; first: string }) {
  const { store, hrefOf } = useBoard();
  const [all, setAll] = useState(false);
  const ids = lane.cells.get(column) ?? [];
  const current = useRef(ids);
  current.current = ids;
  const cell = useRef<HTMLDivElement>(null);
  const line = useRef<HTMLDivElement>(null);
  /** Before the first card whose middle is below. */
  const placeAt = useCallback((offset: number) => {
    const items = [...cell.current!.querySelectorAll("li")].map((item) => ({ top: item.offsetTop, end: item.offsetTop + item.offsetHeight }));
    const found = items.findIndex(({ top, end }) => offset < (top + end) / 2);
    const index = found < 0 ? items.length : found;
    return { index, top: found < 0 ? (items.at(-1)?.end ?? 4) : items[found]!.top };
  }, []);
  useEffect(() => engine.register({ key: `${lane.id} ${column}`, column, lane: lane.id, scroller: cell.current!, line: line.current!, ids: () => current.current, placeAt }), [engine, lane.id, column, placeAt]);
  return (
    <div className="lane-cell" data-cell={column} ref={cell}>
      <ul role="list" aria-label={`${lane.name}, ${store.column(column)?.name ?? ""}`}>
        {ids.slice(0, all ? undefined : most).map((id) => <li key={id}><Tile store={store} id={id} href={hrefOf(id)} isCurrent={id === first} /></li>)}
      </ul>
      {ids.length > most && !all && <button type="button" className="button quiet small" onClick={() => setAll(true)}>{t("+{{count}}", { count: ids.length - most })}</button>}
      <div className="drop-line" ref={line} aria-hidden="true" />
    </div>
  );
}
