import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "../../api/client";
import { inOrg } from "../../api/queries";
import { serves } from "../../app/serves";
import { t } from "../../app/words";
import { Button } from "../../parts/Button";
import { Failure } from "../../parts/Failure";
import { Icon } from "../../parts/Icon";
import { toast } from "../../parts/toasts";
import "./survey.css";

type Key = Schemas["Survey"]["key"];
const questions: Record<Key, { words: string; from: number; to: number; low: string; high: string }> = {
  nps: { words: "How likely are you to recommend Workboard?", from: 0, to: 10, low: "not at all", high: "very" },
  csat: { words: "How content are you with Workboard?", from: 1, to: 5, low: "not at all", high: "very" },
  onboarding: { words: "How easy was it to begin?", from: 1, to: 5, low: "hard", high: "easy" },
  agent_quality: { words: "How good is the work of your agents?", from: 1, to: 5, low: "poor", high: "good" },
};

/** One question in a corner, when the server finds that it may be asked; it is never asked twice. */
export default function SurveyPrompt() {
  const [over, setOver] = useState(false);
  const [score, setScore] = useState<number>();
  const [comment, setComment] = useState("");
  const asked = useQuery({ queryKey: inOrg("surveys"), queryFn: () => ask(api.GET("/v1/me/surveys")), enabled: serves("get_my_surveys"), staleTime: 3_600_000, retry: false });
  const survey = asked.data?.interruptible ? asked.data.surveys.find(({ eligible }) => eligible) : undefined;
  const params = { path: { survey_key: survey?.key ?? ("nps" as const) } };
  const answer = useMutation({
    mutationFn: () => ask(api.POST("/v1/me/surveys/{survey_key}:answer", { params, body: { score: score!, ...(comment && { comment }) } })),
    onSuccess: () => {
      setOver(true);
      toast(t("Thank you"));
    },
  });
  const dismiss = () => {
    setOver(true);
    void ask(api.POST("/v1/me/surveys/{survey_key}:dismiss", { params })).catch(() => undefined);
  };
  if (!survey || over) return null;
  const { words, from, to, low, high } = questions[survey.key];
  return (
    <aside className="survey panel padded stack" aria-label={t("A question")}>
      <div className="row apart" style={{ flexWrap: "nowrap" }}>
        <strong id="survey-words">{t(words)}</strong>
        <button type="button" className="button quiet small icon" aria-label={t("Not now")} onClick={dismiss}><Icon name="close" /></button>
      </div>
      <div className="scores" role="radiogroup" aria-labelledby="survey-words" aria-describedby="survey-ends">
        {Array.from({ length: to - from + 1 }, (_, at) => from + at).map((value) => (
          <label key={value} className="button small">
            <input type="radio" className="unseen" name="survey-score" checked={score === value} onChange={() => setScore(value)} />{value}
          </label>
        ))}
      </div>
      <p className="row apart soft small" id="survey-ends" style={{ margin: 0 }}><span>{t(low)}</span><span>{t(high)}</span></p>
      {score !== undefined && (
        <>
          <textarea className="input" rows={2} maxLength={2000} aria-label={t("Why?")} placeholder={t("Why?")} value={comment} onChange={(event) => setComment(event.target.value)} />
          <Failure error={answer.error} />
          <Button type="button" className="button go" busy={answer.isPending} onClick={() => answer.mutate()}>{t("Send")}</Button>
        </>
      )}
    </aside>
  );
}
