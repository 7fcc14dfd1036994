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
      return this.#own.call((own) => own.points);
    }

    finish(helped) {
      const bytes = bytesOf(helped, "the answer to the points");
      return new HiddenKeys(this.#own.hold((own) => own.finish(bytes)), this.#count);
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
      return this.#own.call((own) => own.query()) ?? null;
    }

    read(answer) {
      const bytes = bytesOf(answer, "an answer");
      this.#own.call((own) => own.read(bytes));
    }

    get count() {
      return this.#own.call((own) => own.count);
    }

    rows() {
      return this.#own.call((own) => own.rows());
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
      this.#own = gate.hold(() => new wasm.TableClient(text, file, words));
    }

    get keyed() {
      return this.#own.call((own) => own.keyed);
    }

    get hidesKeys() {
      return this.#own.call((own) => own.hidesKeys);
    }

    get fields() {
      return this.#own.call((own) => own.fields);
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

    checkEvaluationKeys(keys) {
      const bytes = bytesOf(keys, "evaluation keys");
      this.#own.call((own) => own.checkEvaluationKeys(bytes));
    }

    query(wanted) {
      if (wanted instanceof HiddenKeys) return this.#own.call((own) => own.queryHidden(wanted.own.object));
      if (this.keyed) {
        const keys = keysOf(wanted);
        return this.#own.call((own) => own.queryKeys(keys));
      }
      const rows = rowsOf(wanted);
      return this.#own.call((own) => own.queryRows(rows));
    }

    rows(answer, wanted) {
      const bytes = bytesOf(answer, "an answer");
      if (wanted instanceof HiddenKeys) return this.#own.call((own) => own.readHidden(bytes, wanted.own.object));
      if (this.keyed) {
        const keys = keysOf(wanted);
        return this.#own.call((own) => own.readKeys(bytes, keys));
      }
      const rows = rowsOf(wanted);
      return this.#own.call((own) => own.readRows(bytes, rows));
    }

    record(row) {
      if (row === null) return null;
      const bytes = bytesOf(row, "a row");
      const cells = this.#own.call((own) => own.cells(bytes));
      if (cells === undefined) {
        throw new WindlassError("ParameterError", "the rows of this table have no columns: ask for bytes");
      }
      return Object.fromEntries(this.fields.map((field, place) => [field, cells[place]]));
    }

    blind(keys) {
      const listed = keysOf(keys);
      return new TableBlinding(this.#own.hold((own) => own.blind(listed)), listed.length);
    }

    inPortions(wanted) {
      if (this.keyed) {
        const keys = keysOf(wanted);
        return new TableGathering(this.#own.hold((own) => own.keysInPortions(keys)));
      }
      const rows = rowsOf(wanted);
      return new TableGathering(this.#own.hold((own) => own.rowsInPortions(rows)));
    }

    answerBytes(rows) {
      return this.#own.call((own) => own.answerBytes(rows));
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
