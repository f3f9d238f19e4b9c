import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Runs a call, and reads anew what it changed; `error` says what was refused. */
export function useAct(...keys: readonly (readonly unknown[])[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (call: () => Promise<unknown>) => call(),
    onSuccess: () => Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}
