/** What can be pressed on the page, by its name: so that the palette has every action that there is. */
export interface PageAction {
  label: string;
  run: () => void;
}

const most = 200;

export function actionsOnPage(): PageAction[] {
  const found = new Map<string, PageAction>();
  const buttons = document.querySelectorAll<HTMLElement>("#main button:not(:disabled, [aria-disabled='true']), .sidebar .foot button");
  for (const button of buttons) {
    const label = (button.getAttribute("aria-label") ?? button.textContent ?? "").replace(/\s+/g, " ").trim();
    if (!label || found.has(label) || button.getClientRects().length === 0) continue;
    found.set(label, {
      label,
      run: () => {
        button.focus();
        button.click();
      },
    });
    if (found.size === most) break;
  }
  return [...found.values()];
}
