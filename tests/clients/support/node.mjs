// Some packages need a newer Node than distributions have; npm carries one.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const carried = fileURLToPath(new URL(`../node_modules/node-linux-${process.arch}/bin/node`, import.meta.url));
const isNew = Number(process.versions.node.split(".")[0]) >= 22;

/** The program to run them with. */
export const newerNode = !isNew && existsSync(carried) ? carried : process.execPath;
