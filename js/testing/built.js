// Before the package is published: whether its compiled parts are there.
import { existsSync } from "node:fs";

const missing = ["lookup", "all"]
  .flatMap((name) => ["windlass_wasm.js", "windlass_wasm_bg.wasm"].map((file) => `pkg/${name}/${file}`))
  .filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)));
if (missing.length > 0) {
  console.error(`not built: ${missing.join(", ")}; run make wasm`);
  process.exit(1);
}
