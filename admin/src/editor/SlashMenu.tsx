import { useEffect, useImperativeHandle, useRef, useState, type Ref } from "react";
import { newId } from "../app/newId";
import { serves } from "../app/serves";
import { t } from "../app/words";
import { become, insertBlocks } from "./commands";
import type { Slash } from "./view";
import type { Command } from "prosemirror-state";

interface Item {
  id: string;
  label: string;
  hint: string;
  command: Command;
}
const divider: Command = (state, dispatch, view) => insertBlocks([{ id: newId(), type: "divider", props: {}, content: [], children: [] }])(state, dispatch, view);

const items = (onPicture: () => void): Item[] => [
  { id: "paragraph", label: t("Text"), hint: "", command: become("paragraph") },
  { id: "heading_1", label: t("Heading 1"), hint: "#", command: become("heading_1") },
  { id: "heading_2", label: t("Heading 2"), hint: "##", command: become("heading_2") },
  { id: "heading_3", label: t("Heading 3"), hint: "###", command: become("heading_3") },
  { id: "to_do", label: t("To-do"), hint: "[]", command: become("to_do", { checked: false }) },
  { id: "bulleted_list_item", label: t("Bulleted list"), hint: "-", command: become("bulleted_list_item") },
  { id: "numbered_list_item", label: t("Numbered list"), hint: "1.", command: become("numbered_list_item") },
  { id: "toggle", label: t("Toggle"), hint: "", command: become("toggle") },
  { id: "quote", label: t("Quote"), hint: ">", command: become("quote") },
  { id: "callout", label: t("Callout"), hint: "", command: become("callout") },
  { id: "code", label: t("Code"), hint: "```", command: become("code", { language: "plain text" }) },
  { id: "divider", label: t("Divider"), hint: "", command: divider },
  ...(serves("list_attachments") ? [{ id: "image", label: t("Picture"), hint: "", command: () => (onPicture(), true) }] : []),
];

export interface SlashKeys {
  press(key: string): boolean;
}

/** The blocks that there are, beside the slash; the focus stays in the text. */
export function SlashMenu({ slash, keys, onPicture }: { slash: Slash; keys: Ref<SlashKeys>; onPicture: () => void }) {
  const [at, setAt] = useState(0);
  const query = slash.query.trim().toLowerCase();
  const fitting = items(onPicture).filter(({ label, id }) => label.toLowerCase().includes(query) || id.includes(query));
  useEffect(() => setAt(0), [query]);
  const chosen = fitting[Math.min(at, fitting.length - 1)];
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => { line.current?.scrollIntoView({ block: "nearest" }); }, [chosen?.id]);
  useImperativeHandle(keys, () => ({
    press(key) {
      if (!chosen) return false;
      if (key === "ArrowDown") setAt((at + 1) % fitting.length);
      else if (key === "ArrowUp") setAt((at - 1 + fitting.length) % fitting.length);
      else slash.choose(chosen.command);
      return true;
    },
  }));
  if (!chosen) return null;
  const top = slash.bottom + 260 > innerHeight ? Math.max(8, slash.bottom - 300) : slash.bottom + 4;
  return (
    <div className="popover slash-menu" style={{ left: Math.min(slash.left, innerWidth - 220), top }}>
      <ul role="listbox" aria-label={t("Blocks")} className="menu">
        {fitting.map((item) => (
          <li key={item.id} ref={item === chosen ? line : undefined} role="option" aria-selected={item === chosen} className="menu-item" data-focused={item === chosen || undefined}
            onMouseDown={(event) => { event.preventDefault(); slash.choose(item.command); }}>
            <span>{item.label}</span>{item.hint && <kbd className="note">{item.hint}</kbd>}
          </li>
        ))}
      </ul>
      <span className="unseen" role="status">{chosen.label}</span>
    </div>
  );
}
