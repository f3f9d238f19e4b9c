import { useCommands, type Command } from "../app/commands";
import type { Choice } from "./Menu";

/** The palette has what a menu has while that is closed, under the menu's name. */
export function useMenuCommands(menu: string, choices: Choice[], deps: unknown[]) {
  const able = choices.filter(({ disabled, selected }) => !disabled && !selected);
  useCommands(able.map(({ id, label, icon, run }): Command => ({ id: `${menu} ${id}`, label, group: menu, ...(icon && { icon }), run })), deps);
}
