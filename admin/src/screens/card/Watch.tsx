import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ask } from "../../api/client";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { toast, toastError } from "../../parts/toasts";

/** Whether one is told of what others do to the card. */
export function Watch({ card }: { card: string }) {
  const client = useQueryClient();
  const key = ["card", card, "watch"];
  const params = { path: { card_id: card } };
  const state = useQuery({ queryKey: key, queryFn: () => ask(api.GET("/v1/cards/{card_id}/watchers/me", { params })) });
  const isOn = state.data?.watching ?? false;
  const change = useMutation({
    mutationFn: async (on: boolean) => {
      if (on) await ask(api.PUT("/v1/cards/{card_id}/watchers/me", { params }));
      else await ask(api.DELETE("/v1/cards/{card_id}/watchers/me", { params }));
    },
    onSuccess: async (_, on) => {
      await client.invalidateQueries({ queryKey: key });
      toast(on ? t("You are told of what happens to this card") : t("You are no longer told of this card"));
    },
    onError: toastError,
  });
  return (
    <button type="button" className="button quiet icon" aria-label={t("Watch this card")} title={isOn ? t("Stop watching this card") : t("Watch this card")} aria-pressed={isOn} aria-busy={change.isPending} disabled={!state.data}
      onClick={() => { if (!change.isPending) change.mutate(!isOn); }}><Icon name="eye" /></button>
  );
}
