// Parts of the console in files of their own, which are loaded when they are first shown.
import { useLayoutEffect, useState, type ComponentType, type ReactNode } from "react";

/** Of a file's default export. `waiting` is in its place until it has come. React's own `lazy` and Suspense keep what
    waits on the screen for 300 ms at least, however soon the file is there. `preload` fetches it before it is shown. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>, waiting: ReactNode = null) {
  let loading: Promise<ComponentType<P>> | undefined;
  let loaded: ComponentType<P> | undefined;
  const begin = () => (loading ??= load().then(
    (file) => (loaded = file.default),
    (error: unknown) => {
      // Who tries again asks again, but for a style sheet: Vite's loader asks for that once, and goes on without it.
      if (error instanceof TypeError) loading = undefined;
      throw error;
    },
  ));

  function Lazy(props: P) {
    const [{ Part, error }, found] = useState<{ Part?: ComponentType<P>; error?: unknown }>({ Part: loaded });
    useLayoutEffect(() => {
      if (Part) return;
      let isShown = true;
      begin().then((Part) => isShown && found({ Part }), (error: unknown) => isShown && found({ error }));
      return () => { isShown = false; };
    }, [Part]);
    if (error) throw error;
    return Part ? <Part {...props} /> : waiting;
  }
  return Object.assign(Lazy, { preload: () => void begin().catch(() => undefined) });
}
