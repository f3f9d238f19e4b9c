/** Whether it is in the clipboard now. Pages that did not come by HTTPS have no clipboard: there it is the browser's own
    copying of what is selected, of `shown` where the text is on the page. */
export async function copied(text: string, shown?: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) {
      getSelection()?.selectAllChildren(shown);
      return document.execCommand("copy");
    }
    return copiedUnseen(text);
  }
}

function copiedUnseen(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isDone;
}
