// The program of the protocol's authors that says whether a server does what a revision asks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { newerNode } from "./node.mjs";

export const folderOfSuite = fileURLToPath(new URL("../node_modules/@modelcontextprotocol/conformance/", import.meta.url));

/**
 * Runs it with these words: its exit code, all that it said, and what each scenario found, by its name.
 * `heard` is told what it has said so far, whenever there is more.
 */
export async function conform(words, heard = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "workboard-conformance-"));
  try {
    const child = spawn(newerNode, [`${folderOfSuite}dist/index.js`, ...words, "-o", folder], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const out of [child.stdout, child.stderr])
      out.on("data", (chunk) => {
        said += chunk;
        heard(said);
      });
    const [code] = await once(child, "close");
    const found = new Map();
    for (const name of readdirSync(folder)) {
      const scenario = /^(?:authorization-)?server-(.*)-\d{4}-\d{2}-\d{2}T/.exec(name)[1];
      found.set(scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")));
    }
    return { code, said, found };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that are not as they should be. */
export const faults = (checks) => checks.filter((each) => each.status === "FAILURE" || each.status === "WARNING");
export const passed = (checks) => checks.filter((each) => each.status === "SUCCESS").length;
