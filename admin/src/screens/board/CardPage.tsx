import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useParams } from "wouter";
import { api, ask } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { useSession, useWorkspaceOf } from "../../app/session";
import { t } from "../../app/words";
import { Failure } from "../../parts/Failure";
import { Waiting } from "../../parts/Wait";
import { inWorkspace, tabOrg } from "../../api/workspace";

/** A card's own address, as mails and records have it: it leads to the card on its board. */
export default function CardPage() {
  const { id = "" } = useParams();
  const { seats } = useSession();
  const place = useQuery({
    queryKey: ["card-place", id],
    queryFn: async () => {
      const orgs = [tabOrg(), ...seats.map(({ org_id }) => org_id).filter((each) => each !== tabOrg())];
      let last: unknown;
      for (const org of orgs)
        try {
          const card = await ask(api.GET("/v1/cards/{card_id}", { params: { path: { card_id: id } }, headers: inWorkspace(org) }));
          return { board: card.board_id, card: card.id, org };
        } catch (error) {
          last = error;
          if (!(error instanceof Refusal) || error.status !== 404) throw error;
        }
      throw last;
    },
    retry: false,
  });
  useWorkspaceOf(place.data?.org);
  if (place.data) return <Redirect to={`/boards/${place.data.board}?card=${place.data.card}`} replace />;
  if (place.error instanceof Refusal && (place.error.status === 404 || place.error.status === 422))
    return <div className="empty"><h1>{t("Nothing here")}</h1><p>{t("There is no such card, or it is not for you to see.")}</p><Link href="/boards" className="button">{t("Your boards")}</Link></div>;
  if (place.error) return <div className="page-body"><Failure error={place.error} retry={() => void place.refetch()} /></div>;
  return <div className="page-body"><Waiting /></div>;
}
