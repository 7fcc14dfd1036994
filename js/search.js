// Nearest neighbours in tables of vectors: encrypted queries, and the nearest ones from answers.
import { bytesOf, passphraseOf } from "./bytes.js";
import { WindlassError } from "./errors.js";
import { flat } from "./numbers.js";

/** The class of searches over one compiled module. */
export function searches(gate, wasm) {
  /** A client of a table of vectors. */
  class SearchClient {
    #own;

    constructor(schema, { secret, passphrase } = {}) {
      const text = bytesOf(schema, "a schema");
      const file = secret === undefined ? undefined : bytesOf(secret, "a secret key");
      const words = passphraseOf(passphrase);
      if (words !== undefined && file === undefined) {
        throw new WindlassError("ParameterError", "a passphrase needs the file of a secret key: give secret");
      }
      this.#own = gate.hold(() => new wasm.SearchClient(text, file, words));
    }

    get vectors() {
      return this.#own.call((own) => own.vectors);
    }

    get dimension() {
      return this.#own.call((own) => own.dimension);
    }

    get metric() {
      return this.#own.call((own) => own.metric);
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

    query(vectors) {
      return this.#during(vectors, (asked) => this.#own.call((own) => own.query(asked.object)));
    }

    nearest(answer, vectors, k = 10) {
      const bytes = bytesOf(answer, "an answer");
      if (!Number.isInteger(k) || k < 1 || k > 0xffff_ffff) {
        throw new WindlassError("ParameterError", `k is ${String(k)}, but must be a whole number from 1`);
      }
      return this.#during(vectors, (asked) => {
        const found = this.#own.call((own) => own.nearest(bytes, asked.object, k));
        const each = found.length / asked.call((asked) => asked.count);
        const neighbour = ([index, score, errorBound]) => ({ index, score, errorBound });
        return chunks(found, each).map((list) => chunks(list, 3).map(neighbour));
      });
    }

    /** Does something with vectors as the table wants them. */
    #during(vectors, work) {
      const values = flat(vectors, this.dimension, this.columns, "vector");
      const asked = this.#own.hold((own) => {
        if (values instanceof Int8Array) return own.integers(values);
        return values instanceof Float32Array ? own.singles(values) : own.doubles(values);
      });
      try {
        return work(asked);
      } finally {
        asked.free();
      }
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  return { SearchClient };
}

function chunks(list, length) {
  return Array.from({ length: list.length / length }, (_, n) => list.slice(n * length, (n + 1) * length));
}
