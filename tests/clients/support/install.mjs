// Installs the packages of a folder, this one's if none is named, when the lock file is not the one
// they came from.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = process.argv[2] ? process.argv[2] + "/" : fileURLToPath(new URL("..", import.meta.url));
const stamp = folder + "node_modules/.installed";
const digest = createHash("sha256")
  .update(readFileSync(folder + "package-lock.json"))
  .digest("hex");

function installed() {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return "";
  }
}

if (installed() !== digest) {
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
  writeFileSync(stamp, digest);
}
