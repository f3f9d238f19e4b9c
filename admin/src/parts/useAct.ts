import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Runs a call, and reads again what it changed; `error` says what was refused. While one runs, no other
    begins: buttons say so by `aria-disabled` and keep the focus, which those that are disabled lose. */
export function useAct(...keys: readonly (readonly unknown[])[]) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (call: () => Promise<unknown>) => call(),
    onSuccess: () => Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  return { ...act, mutate: (call: () => Promise<unknown>) => { if (!act.isPending) act.mutate(call); } };
}
