import type { Command } from "../app/commands";
import { t } from "../app/words";

/** The keys of a card's text, for the list of keys: the editor itself has them. */
export function keysOfText(): Command[] {
  const told = (label: string, ...keys: string[]): Command => ({ id: `text ${label}`, label, keys, group: t("In the text"), onlyKeys: true, run: () => undefined });
  return [
    told(t("Another kind of block"), "/"),
    told(t("Put the block below the one above, or back"), "Tab", "Shift+Tab"),
    told(t("Move the block"), "Alt+Shift+ArrowUp", "Alt+Shift+ArrowDown"),
    told(t("Bold, slanted, underlined, code"), "mod+b", "mod+i", "mod+u", "mod+e"),
    told(t("Link what is selected"), "mod+l"),
    told(t("Tick the box"), "mod+Enter"),
    told(t("Leave the text"), "Escape"),
  ];
}
