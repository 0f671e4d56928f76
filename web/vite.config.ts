import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8321";
const proxied = { target: SERVER, changeOrigin: true, headers: { origin: SERVER, "sec-fetch-site": "same-origin" } };

// The page is built into the Python package, which serves it: no node at run time. `npm run dev` talks to a server that
// `answerable serve` started.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/answerable/web/dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": proxied, "/static": proxied } },
});
