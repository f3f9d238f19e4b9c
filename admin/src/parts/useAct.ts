import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { toastError } from "./toasts";

interface Action {
  call: () => Promise<unknown>;
  about: string | undefined;
}

/** Runs calls one after the other, and reads again what each changed; `error` is what was refused last since something
    was begun. What is the same by `about` is not begun again before it has ended: its button says so by `aria-disabled`
    and keeps the focus, which those that are disabled lose. */
export function useAct(...keys: readonly (readonly unknown[])[]) {
  const client = useQueryClient();
  const busy = useRef(new Set<string | undefined>());
  const [error, setError] = useState<unknown>();
  const act = useMutation({
    scope: { id: useId() },
    mutationFn: ({ call }: Action) => call(),
    onSuccess: () => Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey }))),
    onError: setError,
    onSettled: (_data, _error, { about }) => void busy.current.delete(about),
  });
  const mutate = (call: () => Promise<unknown>, about?: string) => {
    if (about !== undefined && busy.current.has(about)) return;
    if (!act.isPending) setError(undefined);
    busy.current.add(about);
    act.mutate({ call, about });
  };
  /** The same, for those who have to know how it ends. */
  const run = (call: () => Promise<unknown>) => act.mutateAsync({ call, about: undefined });
  return { error, mutate, run, isPending: act.isPending, isBusy: (about: string) => busy.current.has(about), reset: () => setError(undefined) };
}

/** The same for lists that are longer than the screen: what is refused is said above the page. */
export function useToldAct(...keys: readonly (readonly unknown[])[]) {
  const act = useAct(...keys);
  const { error } = act;
  useEffect(() => { if (error) toastError(error); }, [error]);
  return act;
}
