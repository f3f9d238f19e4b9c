import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { api, ask } from "../../api/client";
import { inOrg } from "../../api/queries";
import { number } from "../../app/time";
import { t } from "../../app/words";
import { Icon } from "../../parts/Icon";
import { needsAttention, queueStates } from "../../parts/queueStates";
import { toastError } from "../../parts/toasts";
import { useBoard } from "./context";
import type { Column } from "./store";

export const queueQuery = (board_id: string, column_id: string) => ({
  queryKey: inOrg("queue", board_id, column_id),
  queryFn: () => ask(api.GET("/v1/boards/{board_id}/columns/{column_id}/queue", { params: { path: { board_id, column_id } } })),
});

/** How a column stands as a work queue: what waits, what is worked on, what needs somebody. */
export function QueueStrip({ column }: { column: Column }) {
  const { canEdit, store } = useBoard();
  // That a pause after a failure is over is no event: it is asked for then, or soon after where clocks differ.
  const late = useRef({ next: "", times: 0 });
  const state = useQuery({
    ...queueQuery(column.board_id, column.id),
    refetchInterval: ({ state: { data } }) => {
      const next = data?.next_available_at;
      if (!next) return false;
      const left = Date.parse(next) - Date.now();
      late.current = { next, times: left <= 0 && late.current.next === next ? late.current.times + 1 : 0 };
      return Math.max(left + 500, Math.min(60_000, 1_000 * 2 ** late.current.times));
    },
  });
  const { data } = state;
  useEffect(() => { if (data) store.wantReady(column.id, data.next_available_at); }, [store, column.id, data]);
  const { paused } = column.queue;
  const pause = () =>
    void ask(api.PATCH("/v1/boards/{board_id}/columns/{column_id}", {
      params: { path: { board_id: column.board_id, column_id: column.id } },
      body: { queue: { paused: !paused } },
    })).catch(toastError);
  return (
    <div className="queue-strip">
      <span className="grow">
        <span className="tag agent">{paused ? t("queue, paused") : t("queue")}</span>
        {state.data && queueStates.filter((name) => name === "ready" || state.data[name] > 0).map((name) => (
          <span key={name} className={needsAttention(name) ? "late" : undefined}>{number(state.data[name])} {t(name)}</span>
        ))}
      </span>
      {canEdit && (
        <button type="button" className="button quiet small icon" aria-label={paused ? t("Let workers claim again") : t("Pause the queue")} onClick={pause}>
          <Icon name={paused ? "play" : "pause"} />
        </button>
      )}
    </div>
  );
}
