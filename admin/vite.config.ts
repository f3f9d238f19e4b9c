import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { addresses, names } from "./src/app/addresses";

// The sources are linked into the build folder, beside the packages (CMakeLists.txt).
export default defineConfig({
  plugins: [
    react(),
    {
      name: "workboard-addresses", // for pack.mjs, which makes a page of each
      generateBundle() {
        this.emitFile({ type: "asset", fileName: "addresses.json", source: JSON.stringify({ addresses: Object.values(addresses), names }) });
      },
    },
  ],
  resolve: { preserveSymlinks: true },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        // Digests that the server knows for what they are, and lets browsers keep for good.
        hashCharacters: "hex",
        entryFileNames: "assets/[name].[hash:16].js",
        chunkFileNames: "assets/[name].[hash:16].js",
        assetFileNames: "assets/[name].[hash:16][extname]",
        // What most screens are made of is one file; what few need stays with them.
        manualChunks: (id) => {
          if (/node_modules\/(react|react-dom|scheduler|wouter|regexparam|use-sync-external-store|@tanstack\/(react-query|query-core)|i18next|openapi-fetch)\//.test(id)) return "base";
          if (/node_modules\/(react-aria|react-stately|@react-aria|@react-stately|@react-types|@internationalized|@swc\/helpers|react-aria-components|client-only)/.test(id)) return "widgets";
          if (/node_modules\/(prosemirror-|w3c-keyname|rope-sequence|orderedmap)/.test(id)) return "editor";
          return undefined;
        },
      },
    },
  },
  // A test is given time for machines that do other things as well.
  test: { environment: "node", testTimeout: 60_000, setupFiles: ["test/setup.mjs"], include: ["test/**/*.test.ts"] },
});
