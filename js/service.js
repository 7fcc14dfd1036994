// Lookups over HTTP: a client of `windlass serve`, by fetch.
import { bytesOf, keysOf, rowsOf } from "./bytes.js";
import { freed, WindlassError } from "./errors.js";

/** Longest schema, or problem, that is read. */
const TEXT = 1 << 20;
/** Longest time between two attempts, in milliseconds. */
const LONGEST_WAIT = 30_000;
/** What another attempt may help against. */
const BUSY = new Set([429, 500, 502, 503, 504]);

/** What text of a service may not do to a page or a terminal: lines, colours, directions. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Longest wait for a response that engines take, in milliseconds. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

const utf8 = new TextDecoder();

/** A table's client and its evaluation keys. An ask keeps both, even if `refresh` replaces them. */
class Setup {
  #asks = 0;
  #retired = false;
  /** Settled once the service has the keys; null if nobody knows whether it has. */
  known = null;

  constructor(table, keys, name) {
    this.table = table;
    this.keys = keys;
    this.name = name;
  }

  /** Does something with the table, which is not freed before it ends. */
  async during(work) {
    this.#asks += 1;
    try {
      return await work();
    } finally {
      this.#asks -= 1;
      this.#clear();
    }
  }

  /** Frees the table once its last ask ends. */
  retire() {
    this.#retired = true;
    this.#clear();
  }

  #clear() {
    if (this.#retired && this.#asks === 0) this.table.free();
  }
}

/** The class of services over one compiled module. */
export function services({ TableClient, HiddenKeys, sha256 }) {
  /** A lookup service, and its client: keys are made once and uploaded once. */
  class LookupService {
    #url;
    #options;
    #setup = null;
    #pin;
    #uploads = 0;

    constructor(url, options) {
      this.#url = url;
      this.#options = options;
    }

    /** Fetches the schema of a service's table and makes keys. */
    static async connect(url, options = {}) {
      const { secret, passphrase, schemaHash, token, retries = 5, timeout = 120_000, signal } = options;
      const tell = options.onProgress ?? (() => {});
      const service = new LookupService(addressOf(url), { token, retries, timeout, fetch: options.fetch, tell });
      checkToken(token, service.#url);
      checkPatience(retries, timeout);
      const pin = pinOf(schemaHash);
      const { kept } = options;
      if (kept !== undefined && secret !== undefined) {
        throw new WindlassError("ParameterError", "kept holds a secret key: give kept or secret");
      }
      tell("schema");
      const schema = await service.#fetchSchema(signal);
      const table = kept === undefined ? new TableClient(schema, { secret, passphrase }) : service.#again(schema, kept, passphrase);
      service.#checkHash(table, pin);
      service.#pin = pin;
      service.#setup = service.#prepare(table, kept);
      return service;
    }

    get url() {
      return this.#url;
    }

    get client() {
      return this.#present().table;
    }

    get securityBits() {
      return this.client.securityBits;
    }

    get uploads() {
      return this.#uploads;
    }

    /** Rows as bytes; null for a row that is not there. */
    ask(wanted, options) {
      return this.#asked(wanted, options, (_, rows) => rows);
    }

    /** Rows as objects of their columns. */
    records(wanted, options) {
      return this.#asked(wanted, options, (table, rows) => rows.map((row) => table.record(row)));
    }

    /** The file of the secret key, encrypted if there is a passphrase. */
    secret(options) {
      return this.client.secret(options);
    }

    /** All keys, for `kept` of a later `connect`. */
    keys(options) {
      const { table, keys } = this.#present();
      return { secret: table.secret(options), evaluationKeys: keys.slice(), schemaHash: table.schemaHash };
    }

    /**
     * Fetches the present schema. Returns whether the table has another layout: then fresh keys
     * were made, unless `secret` fits it. If a hash was pinned, another schema needs its own.
     */
    async refresh({ secret, passphrase, schemaHash, signal } = {}) {
      const before = this.#present();
      const pin = pinOf(schemaHash) ?? this.#pin;
      const schema = await this.#fetchSchema(signal);
      if (this.#setup !== before) throw this.#setup === null ? freed() : overtaken();
      const next = this.#fitting(before.table, schema, { secret, passphrase });
      this.#checkHash(next, pin);
      const other = next.schemaHash !== before.table.schemaHash;
      this.#pin = pin;
      if (!other && secret === undefined) {
        next.free();
        return false;
      }
      this.#setup = this.#prepare(next);
      before.retire();
      return other;
    }

    /** Gives back the memory once the last ask ends. */
    free() {
      const setup = this.#setup;
      this.#setup = null;
      setup?.retire();
    }

    [Symbol.dispose]() {
      this.free();
    }

    #present() {
      if (this.#setup === null) throw freed();
      return this.#setup;
    }

    /** A client under another schema, with the same secret key if it fits. */
    #fitting(table, schema, { secret, passphrase }) {
      const kept = secret ?? table.secret();
      try {
        return new TableClient(schema, { secret: kept, passphrase });
      } catch (error) {
        if (secret !== undefined || error.code !== "OtherContext") throw error;
        return new TableClient(schema);
      } finally {
        if (secret === undefined) kept.fill(0);
      }
    }

    /** A client with kept keys, if the table still has the schema that they were made for. */
    #again(schema, { secret, schemaHash }, passphrase) {
      const file = bytesOf(secret, "a kept secret key");
      let table;
      try {
        table = new TableClient(schema, { secret: file, passphrase });
      } catch (error) {
        throw error.code === "OtherContext" ? this.#otherSince(error) : error;
      }
      if (table.schemaHash === schemaHash) return table;
      table.free();
      throw this.#otherSince();
    }

    #otherSince(cause) {
      const message = `the table of ${this.#url} was replaced since these keys were made: connect without them, which makes new ones`;
      return new WindlassError("TableReplaced", message, { cause });
    }

    /** The table with its evaluation keys: those that are given, or fresh ones. */
    #prepare(table, kept) {
      if (kept === undefined) this.#options.tell("keys");
      try {
        const given = kept === undefined ? undefined : bytesOf(kept.evaluationKeys, "kept evaluation keys");
        if (given !== undefined) table.checkEvaluationKeys(given);
        const keys = given ?? table.evaluationKeys();
        return new Setup(table, keys, sha256(keys));
      } catch (error) {
        table.free();
        throw error;
      }
    }

    #checkHash(table, pin) {
      const found = table.schemaHash;
      if (pin === undefined || found === pin) return;
      table.free();
      throw new WindlassError(
        "TableReplaced",
        `${this.#url} has a table with the schema ${found}, not ${pin}: ask its owner whether the table was replaced`,
      );
    }

    async #asked(wanted, { portions = false, signal } = {}, read) {
      const setup = this.#present();
      const { table } = setup;
      const listed = table.keyed ? keysOf(wanted) : rowsOf(wanted);
      return setup.during(async () => {
        signal?.throwIfAborted();
        await this.#introduce(setup, signal);
        const asked = await this.#hidden(setup, listed, signal);
        try {
          const inParts = portions && !(asked instanceof HiddenKeys);
          const rows = await (inParts ? this.#inPortions : this.#atOnce).call(this, setup, asked, listed.length, signal);
          return read(table, rows);
        } finally {
          if (asked instanceof HiddenKeys) asked.free();
        }
      });
    }

    /**
     * Uploads the evaluation keys unless the service has them, or anew if it lost `lost`. Asks
     * share one upload, and a signal stops the wait for it alone.
     */
    async #introduce(setup, signal, lost) {
      if (setup.known === null || setup.known === lost) {
        const known = lost === undefined ? this.#ensureKeys(setup) : this.#upload(setup);
        setup.known = known;
        known.catch(() => {
          if (setup.known === known) setup.known = null;
        });
      }
      const { known } = setup;
      await unlessStopped(known, signal);
      return known;
    }

    async #ensureKeys(setup) {
      const response = await this.#send("HEAD", `/keys/${setup.name}`, undefined, 0);
      if (response.status !== 200) await this.#upload(setup);
    }

    async #upload(setup) {
      this.#uploads += 1;
      this.#options.tell("upload");
      this.#expect(await this.#send("PUT", `/keys/${setup.name}`, setup.keys, TEXT), 200, 201, 204);
    }

    /** What to ask for: where keys are hidden, what stands for them. */
    async #hidden({ table }, listed, signal) {
      if (!table.hidesKeys || listed.length === 0) return listed;
      const blinding = table.blind(listed);
      try {
        const { points } = blinding;
        const response = await this.#send("POST", "/blind", points, Math.max(points.length, TEXT), signal);
        this.#expect(response, 200);
        return blinding.finish(response.body);
      } finally {
        blinding.free();
      }
    }

    async #atOnce(setup, asked, count, signal) {
      const { table } = setup;
      return table.rows(await this.#exchange(setup, table.query(asked), count, signal), asked);
    }

    async #inPortions(setup, asked, _, signal) {
      const gathering = setup.table.inPortions(asked);
      try {
        for (let query = gathering.query(); query !== null; query = gathering.query()) {
          gathering.read(await this.#exchange(setup, query, gathering.count, signal));
        }
        return gathering.rows();
      } finally {
        gathering.free();
      }
    }

    /** The answer to a query for so many rows. Keys that had to make room are uploaded again. */
    async #exchange(setup, query, count, signal) {
      this.#options.tell("ask");
      const most = setup.table.answerBytes(count);
      let { known } = setup;
      for (let left = this.#options.retries; ; left -= 1) {
        const response = await this.#send("POST", `/ask?keys=${setup.name}`, query, most, signal);
        if (response.status !== 404 || kindOf(response) !== "unknown-keys" || left === 0) {
          this.#expect(response, 200);
          return response.body;
        }
        known = await this.#introduce(setup, signal, known);
      }
    }

    async #fetchSchema(signal) {
      const response = await this.#send("GET", "/schema", undefined, TEXT, signal);
      this.#expect(response, 200);
      return response.body;
    }

    #expect(response, ...wanted) {
      if (wanted.includes(response.status)) return;
      const said = problemOf(response);
      const kind = kindOf(response);
      const told = [said.title ?? "the response is not one of a table service", said.detail].filter(Boolean).join(": ");
      const fix = said.fix ? `; ${said.fix}` : "";
      const code = kind === "other-table" ? "TableReplaced" : BUSY.has(response.status) ? "ServiceUnavailable" : "ServiceError";
      throw new WindlassError(code, `${this.#url} refuses (${response.status}): ${told}${fix}`, {
        status: response.status,
        problem: kind,
        fix: said.fix ?? "",
      });
    }

    /** Sends a request, and repeats it while the service is busy or cannot be reached. */
    async #send(method, path, body, most, signal) {
      let wait = 500;
      for (let left = this.#options.retries; ; left -= 1) {
        let response;
        try {
          response = await this.#once(method, path, body, most, signal);
        } catch (error) {
          if (error instanceof WindlassError || signal?.aborted) throw error;
          if (left === 0) {
            const reason = error.cause?.code ?? error.cause?.message ?? error.message;
            throw new WindlassError("ServiceUnavailable", `${this.#url} cannot be reached: ${reason}`, { cause: error });
          }
        }
        if (response !== undefined) {
          if (!BUSY.has(response.status) || left === 0) return response;
          wait = response.retryAfter ?? wait;
        }
        await pause(Math.min(wait, LONGEST_WAIT), signal);
        wait = Math.min(2 * Math.max(wait, 50), LONGEST_WAIT);
      }
    }

    async #once(method, path, body, most, signal) {
      const { timeout, token } = this.#options;
      const send = this.#options.fetch ?? globalThis.fetch;
      const late = AbortSignal.timeout(Math.ceil(timeout));
      const headers = {};
      if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
      if (token !== undefined) headers.Authorization = `Bearer ${token}`;
      const response = await send(this.#url + path, {
        method,
        body,
        headers,
        redirect: "error",
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      });
      const longest = response.ok ? most : TEXT;
      const retryAfter = secondsOf(response.headers.get("Retry-After"));
      return { status: response.status, retryAfter, body: await this.#read(response, longest) };
    }

    /** The body, if it is not longer than it may be. */
    async #read(response, most) {
      if (response.body === null) return new Uint8Array();
      const parts = [];
      let length = 0;
      for (const reader = response.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.length;
        if (length > most) {
          reader.cancel().catch(() => {});
          throw new WindlassError("ServiceError", `${this.#url} sends more than ${most} bytes`, {
            status: response.status,
          });
        }
        parts.push(value);
      }
      const whole = new Uint8Array(length);
      let end = 0;
      for (const part of parts) {
        whole.set(part, end);
        end += part.length;
      }
      return whole;
    }
  }

  return LookupService;
}

function addressOf(url) {
  let address;
  try {
    address = new URL(url, globalThis.location?.href);
  } catch {
    throw new WindlassError("ParameterError", `${url} is not the URL of a service: write https://HOST:PORT`);
  }
  if (!["http:", "https:"].includes(address.protocol)) {
    throw new WindlassError("ParameterError", `${url} is not the URL of a service: write https://HOST:PORT`);
  }
  return address.origin + address.pathname.replace(/\/+$/, "");
}

/** The hash that a schema must have, in small letters; undefined if any will do. */
function pinOf(given) {
  if (given === undefined) return undefined;
  if (typeof given === "string" && /^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase();
  throw new WindlassError("ParameterError", "schemaHash is not a hash of a schema: write all 64 hexadecimal digits");
}

function checkPatience(retries, timeout) {
  if (!Number.isInteger(retries) || retries < 0) {
    throw new WindlassError("ParameterError", "retries is not a whole number from 0");
  }
  if (typeof timeout !== "number" || !(timeout > 0 && timeout <= LONGEST_TIMEOUT)) {
    throw new WindlassError("ParameterError", `timeout is not a number of milliseconds above 0, and at most ${LONGEST_TIMEOUT}`);
  }
}

function overtaken() {
  return new WindlassError("TableReplaced", "another refresh of this service ended first: refresh again");
}

/** Waits for what others wait for too; a signal ends this wait alone. */
function unlessStopped(shared, signal) {
  if (signal === undefined) return shared;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Refuses what is not a token, and to send one in the clear to another machine. */
function checkToken(token, url) {
  if (token === undefined) return;
  const { protocol, hostname } = new URL(url);
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  if (typeof token !== "string" || !/^[!-~]+$/.test(token) || (protocol !== "https:" && !here)) {
    throw new WindlassError(
      "ParameterError",
      "the token is not one of letters, digits and signs without blanks, or would be sent unencrypted: write https://HOST:PORT",
    );
  }
}

/** The problem details of a refusal: untrusted text, shortened. */
function problemOf({ body }) {
  try {
    const said = JSON.parse(utf8.decode(body));
    const texts = Object.entries(said).filter(([, text]) => typeof text === "string");
    return Object.fromEntries(texts.map(([name, text]) => [name, text.slice(0, 300).replace(CONTROLS, " ")]));
  } catch {
    return {};
  }
}

/** The last part of the problem's type. */
function kindOf(response) {
  return problemOf(response).type?.split("#").at(-1) ?? "";
}

/** Milliseconds to wait, if a header states whole seconds. */
function secondsOf(text) {
  return /^\d{1,9}$/.test(text ?? "") ? 1000 * Number(text) : undefined;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

