import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../app/words";
import { Check, Choose } from "../../parts/Field";
import { Failure } from "../../parts/Failure";
import { Waiting } from "../../parts/Wait";

/** The toolsets that the server's tools are of. */
async function toolsetNames(): Promise<string[]> {
  const answer = await fetch("/v1/mcp/manifest");
  if (!answer.ok) throw new Error(t("The server answered {{status}}.", { status: answer.status }));
  const { tools } = (await answer.json()) as { tools: { toolset: string }[] };
  return [...new Set(tools.map(({ toolset }) => toolset))].sort();
}

/** Which tools a connection reaches: all, what working a queue takes, or some sorts of them. */
export function Toolsets({ chosen, onChange }: { chosen: string[]; onChange: (toolsets: string[]) => void }) {
  const [reach, setReach] = useState("all");
  const names = useQuery({ queryKey: ["toolsets"], queryFn: toolsetNames, enabled: reach === "some", staleTime: Infinity });
  const choose = (value: string) => {
    setReach(value);
    onChange(value === "worker" ? ["worker"] : []);
  };
  return (
    <>
      <Choose label={t("Its tools")} value={reach} onChange={(event) => choose(event.target.value)} options={[
        { value: "all", label: t("all that it may use") },
        { value: "worker", label: t("what working a queue takes") },
        { value: "some", label: t("some sorts") },
      ]} />
      {reach === "some" && (
        <fieldset className="toolsets">
          <legend>{t("Sorts of tools; without any it reaches all")}</legend>
          {names.isPending && <Waiting />}
          <Failure error={names.error} />
          {names.data?.map((name) => (
            <Check key={name} label={name} checked={chosen.includes(name)}
              onChange={(event) => onChange(event.target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))} />
          ))}
        </fieldset>
      )}
    </>
  );
}
