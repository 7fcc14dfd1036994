// Everything: lookups, nearest neighbours, scores of models, and vectors of integers and of real numbers.
import { Gate, WindlassError } from "./errors.js";
import { start } from "./load.js";
import * as wasm from "./pkg/all/windlass_wasm.js";
import { scorings } from "./scoring.js";
import { searches } from "./search.js";
import { services } from "./service.js";
import { tables, textOf } from "./table.js";
import { vectors } from "./vectors.js";

const gate = new Gate();
const classes = tables(gate, wasm);

/** Loads the compiled part, from `source` if it does not lie beside this file. */
export function init(source) {
  return gate.load(() => start(wasm, new URL("./pkg/all/windlass_wasm_bg.wasm", import.meta.url), source));
}

export const { TableClient } = classes;
export const LookupService = services(classes);
export const { SearchClient } = searches(gate, wasm);
export const { ScoringClient } = scorings(gate, wasm);
export const { Context, Client } = vectors(gate, wasm);
export { WindlassError, textOf };
