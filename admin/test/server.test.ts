import { expect, test } from "vitest";
import { duration, inWords, withoutKinds, type Metric } from "../src/screens/server/readings";

const metric = (name: string, labels: string, value: number, history: (number | null)[] | null = null): Metric =>
  ({ name, labels, help: "What it is.", value, module: "kernel", limit: null, history });

test("jobs of all kinds are one number, and consumers: what waits is added up, and of what is late the longest counts", () => {
  const [ready, failed, oldest, behind] = withoutKinds([
    metric("workboard_jobs", 'kind="a",state="ready"', 2, [1, 2]),
    metric("workboard_jobs", 'kind="a",state="failed"', 0),
    metric("workboard_jobs_oldest_seconds", 'kind="a"', 5, [null, 5]),
    metric("workboard_jobs", 'kind="b",state="ready"', 1, [0, 1]),
    metric("workboard_jobs", 'kind="b",state="failed"', 4),
    metric("workboard_jobs_oldest_seconds", 'kind="b"', 3, [9, 3]),
    metric("workboard_consumer_oldest_seconds", 'consumer="webhooks"', 0, [1, 0]),
    metric("workboard_consumer_oldest_seconds", 'consumer="notifications"', 7, [0, 7]),
  ]);
  expect(ready).toMatchObject({ labels: 'state="ready"', value: 3, history: [1, 3], kinds: ["a", "b"] });
  expect(failed).toMatchObject({ labels: 'state="failed"', value: 4, history: null, kinds: ["b"] });
  expect(oldest).toMatchObject({ labels: "", value: 5, history: [9, 5] });
  expect(behind).toMatchObject({ labels: "", value: 7, history: [1, 7], kinds: ["notifications"] });
});

test("numbers are said as what they count", () => {
  expect([0, 89, 600, 7_200].map(duration)).toEqual(["0 s", "89 s", "10 min", "2 h"]);
  expect(inWords("process_resident_memory_bytes", 3 * 1024 * 1024)).toBe("3.0 MiB");
  expect(inWords("workboard_mail_oldest_seconds", 61)).toBe("61 s");
  expect(inWords("workboard_db_waiting", 12_345)).toBe((12_345).toLocaleString());
});
