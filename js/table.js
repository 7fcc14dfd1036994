// Clients of tables: queries, and rows from answers. No network here.
import { bytesOf, keysOf, passphraseOf, rowsOf } from "./bytes.js";
import { WindlassError } from "./errors.js";

const utf8 = new TextDecoder();

/** The classes of lookups over one compiled module. */
export function tables(gate, wasm) {
  /** Keys that the server helped to hide. */
  class HiddenKeys {
    constructor(own, count) {
      this.own = own;
      this.count = count;
    }

    free() {
      this.own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  /** Keys that the server is to help with, without learning them. */
  class TableBlinding {
    #own;
    #count;

    constructor(own, count) {
      this.#own = own;
      this.#count = count;
    }

    get points() {
      return gate.call(() => this.#own.points);
    }

    finish(helped) {
      const bytes = bytesOf(helped, "the answer to the points");
      return new HiddenKeys(gate.call(() => this.#own.finish(bytes)), this.#count);
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  /** Rows that are asked for in portions. */
  class TableGathering {
    #own;

    constructor(own) {
      this.#own = own;
    }

    query() {
      return gate.call(() => this.#own.query()) ?? null;
    }

    read(answer) {
      const bytes = bytesOf(answer, "an answer");
      gate.call(() => this.#own.read(bytes));
    }

    get count() {
      return gate.call(() => this.#own.count);
    }

    rows() {
      return gate.call(() => this.#own.rows());
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  /** A client of a table: it makes queries and reads answers. */
  class TableClient {
    #own;

    constructor(schema, { secret, passphrase } = {}) {
      const text = bytesOf(schema, "a schema");
      const file = secret === undefined ? undefined : bytesOf(secret, "a secret key");
      const words = passphraseOf(passphrase);
      if (words !== undefined && file === undefined) {
        throw new WindlassError("ParameterError", "a passphrase needs the file of a secret key: give secret");
      }
      this.#own = gate.call(() => new wasm.TableClient(text, file, words));
    }

    get keyed() {
      return gate.call(() => this.#own.keyed);
    }

    get hidesKeys() {
      return gate.call(() => this.#own.hidesKeys);
    }

    get fields() {
      return gate.call(() => this.#own.fields);
    }

    get securityBits() {
      return gate.call(() => this.#own.securityBits);
    }

    get schemaHash() {
      return gate.call(() => this.#own.schemaHash);
    }

    secret({ passphrase } = {}) {
      const words = passphraseOf(passphrase);
      return gate.call(() => this.#own.secret(words));
    }

    evaluationKeys() {
      return gate.call(() => this.#own.evaluationKeys());
    }

    query(wanted) {
      if (wanted instanceof HiddenKeys) return gate.call(() => this.#own.queryHidden(wanted.own));
      if (this.keyed) {
        const keys = keysOf(wanted);
        return gate.call(() => this.#own.queryKeys(keys));
      }
      const rows = rowsOf(wanted);
      return gate.call(() => this.#own.queryRows(rows));
    }

    rows(answer, wanted) {
      const bytes = bytesOf(answer, "an answer");
      if (wanted instanceof HiddenKeys) return gate.call(() => this.#own.readHidden(bytes, wanted.own));
      if (this.keyed) {
        const keys = keysOf(wanted);
        return gate.call(() => this.#own.readKeys(bytes, keys));
      }
      const rows = rowsOf(wanted);
      return gate.call(() => this.#own.readRows(bytes, rows));
    }

    record(row) {
      if (row === null) return null;
      const cells = gate.call(() => this.#own.cells(row));
      if (cells === undefined) {
        throw new WindlassError("ParameterError", "the rows of this table have no columns: ask for bytes");
      }
      return Object.fromEntries(this.fields.map((field, place) => [field, cells[place]]));
    }

    blind(keys) {
      const listed = keysOf(keys);
      return new TableBlinding(gate.call(() => this.#own.blind(listed)), listed.length);
    }

    inPortions(wanted) {
      if (this.keyed) {
        const keys = keysOf(wanted);
        return new TableGathering(gate.call(() => this.#own.keysInPortions(keys)));
      }
      const rows = rowsOf(wanted);
      return new TableGathering(gate.call(() => this.#own.rowsInPortions(rows)));
    }

    answerBytes(rows) {
      return gate.call(() => this.#own.answerBytes(rows));
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  return { TableClient, HiddenKeys, sha256: (bytes) => gate.call(() => wasm.sha256(bytes)) };
}

/** The text in a row. */
export function textOf(row) {
  return utf8.decode(row);
}
