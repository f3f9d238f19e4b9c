// A certificate for this machine, and its key, made anew.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function makeCertificate(names = "DNS:localhost") {
  const folder = mkdtempSync(join(tmpdir(), "workboard-certificate-"));
  const file = join(folder, "certificate.pem");
  const keyFile = join(folder, "key.pem");
  const made = spawnSync(
    "openssl",
    [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
      ...["-subj", "/CN=Workboard test", "-addext", `subjectAltName=${names}`],
      ...["-keyout", keyFile, "-out", file],
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  return {
    file,
    certificate: readFileSync(file),
    key: readFileSync(keyFile),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
