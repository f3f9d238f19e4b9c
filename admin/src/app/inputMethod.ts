// Japanese, Chinese and Korean are written through an input method: while it composes a word, Enter takes its words,
// Escape gives them up and arrows choose among them. None of these keys means anything to the page.

/** The key that ends a composition comes after it in Safari, with this for its code. */
const ofInputMethod = 229;

export function leaveKeysToInputMethod() {
  window.addEventListener("keydown", (event) => {
    const { target } = event;
    const isEditor = target instanceof HTMLElement && target.isContentEditable; // which looks after this by itself
    if ((event.isComposing || event.keyCode === ofInputMethod) && !isEditor) event.stopImmediatePropagation();
  }, { capture: true });
}
