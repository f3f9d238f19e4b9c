// Japanese, Chinese and Korean are written through an input method: while it composes a word, Enter takes its words,
// Escape gives them up and arrows choose among them. None of these keys means anything to the page.

/** The code of every key that an input method takes; Safari's comes after the composition that it ends. That something
    is being composed says less: keyboards of phones compose every word, and their Enter is Enter. */
const ofInputMethod = 229;

export function leaveKeysToInputMethod() {
  window.addEventListener("keydown", (event) => {
    const { target } = event;
    const isEditor = target instanceof HTMLElement && target.isContentEditable; // which looks after this by itself
    if (event.keyCode === ofInputMethod && !isEditor) event.stopImmediatePropagation();
  }, { capture: true });
}
