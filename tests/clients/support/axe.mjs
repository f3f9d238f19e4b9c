// What axe finds on a page that keeps people out.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const everything = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** A line for each element. Swagger UI's own parts of the reference are not ours. `rules` are some of axe's
    own, when the others say the same as before. */
export async function faults(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const runOnly = rules ? { type: "rule", values: rules } : { type: "tag", values: everything };
  // Of what passes, axe need not say where it stands.
  const options = { runOnly, resultTypes: ["violations"] };
  const { violations } = await page.evaluate((how) => window.axe.run({ exclude: [[".swagger-ui"]] }, how), options);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary.replace(/\s+/g, " ")}`));
}
