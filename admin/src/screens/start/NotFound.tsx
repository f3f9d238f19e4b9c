import { Link } from "wouter";
import { t } from "../../app/words";
import { Door } from "../sign-in/Door";

export default function NotFound({ alone }: { alone?: boolean }) {
  const words = t("This server has no page at this address. The link may be incomplete or out of date.");
  if (alone) return <Door title={t("Nothing here")} says={<>{words} <Link href="/">{t("Start page")}</Link></>} />;
  return <div className="empty"><h1>{t("Nothing here")}</h1><p>{words}</p></div>;
}
