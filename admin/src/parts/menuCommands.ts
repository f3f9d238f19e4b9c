import { useCommands, type Command } from "../app/commands";
import type { Choice } from "./Menu";

/** The palette has what a menu has while that is closed, as "Card: Archive"; not what takes something away, which is to
    be chosen where it is seen what that is. */
export function useMenuCommands(of: string, choices: Choice[], deps: unknown[]) {
  const able = choices.filter(({ disabled, selected, danger }) => !disabled && !selected && !danger);
  useCommands(able.map(({ id, label, icon, run }): Command => ({ id: `${of} ${id}`, label: `${of}: ${label}`, group: of, ...(icon && { icon }), run })), deps);
}
