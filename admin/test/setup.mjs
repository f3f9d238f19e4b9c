// Debian's node 18 has it, but not as a global as browsers do.
import { webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;
