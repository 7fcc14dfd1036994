// Lookups alone: three quarters of the size of everything.
import { Gate, WindlassError } from "./errors.js";
import { start } from "./load.js";
import * as wasm from "./pkg/lookup/windlass_wasm.js";
import { services } from "./service.js";
import { tables, textOf } from "./table.js";

const gate = new Gate();
const classes = tables(gate, wasm);

/** Loads the compiled part, from `source` if it does not lie beside this file. */
export function init(source) {
  return gate.load(() => start(wasm, new URL("./pkg/lookup/windlass_wasm_bg.wasm", import.meta.url), source));
}

export const { TableClient } = classes;
export const LookupService = services(classes);
export { WindlassError, textOf };
