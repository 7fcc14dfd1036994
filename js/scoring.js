// Scores of models on encrypted rows: what a client does.
import { bytesOf, passphraseOf } from "./bytes.js";
import { WindlassError } from "./errors.js";
import { flat } from "./numbers.js";

/** The class of scorings over one compiled module. */
export function scorings(gate, wasm) {
  /** A client of a model. */
  class ScoringClient {
    #own;

    constructor(schema, { secret, passphrase, insecure = false } = {}) {
      const text = bytesOf(schema, "a schema");
      const file = secret === undefined ? undefined : bytesOf(secret, "a secret key");
      const words = passphraseOf(passphrase);
      if (words !== undefined && file === undefined) {
        throw new WindlassError("ParameterError", "a passphrase needs the file of a secret key: give secret");
      }
      this.#own = gate.hold(() => new wasm.ScoringClient(text, Boolean(insecure), file, words));
    }

    get features() {
      return this.#own.call((own) => own.features);
    }

    get columns() {
      return this.#own.call((own) => own.columns);
    }

    get securityBits() {
      return this.#own.call((own) => own.securityBits);
    }

    get schemaHash() {
      return this.#own.call((own) => own.schemaHash);
    }

    secret({ passphrase } = {}) {
      const words = passphraseOf(passphrase);
      return this.#own.call((own) => own.secret(words));
    }

    evaluationKeys() {
      return this.#own.call((own) => own.evaluationKeys());
    }

    encrypt(rows) {
      const values = Float64Array.from(flat(rows, this.features, this.columns, "row"));
      return this.#own.call((own) => own.encrypt(values));
    }

    scores(answer) {
      const bytes = bytesOf(answer, "encrypted scores");
      const scored = this.#own.hold((own) => own.decrypt(bytes));
      try {
        return scored.call((scored) => {
          const { scores, decisions, close, errorBound } = scored;
          const each = scores.length / decisions.length;
          const row = (decision, n) => ({
            scores: Array.from(scores.subarray(n * each, (n + 1) * each)),
            decision,
            class: this.#own.call((own) => own.className(decision)),
            close: close[n] === 1,
            errorBound,
          });
          return Array.from(decisions, row);
        });
      } finally {
        scored.free();
      }
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  return { ScoringClient };
}
