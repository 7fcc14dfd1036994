// Lookups over HTTP: a client of `windlass serve`, by fetch.
import { WindlassError } from "./errors.js";

/** Longest schema, or problem, that is read. */
const TEXT = 1 << 20;
/** Longest time between two attempts, in milliseconds. */
const LONGEST_WAIT = 30_000;
/** What another attempt may help against. */
const BUSY = new Set([429, 500, 502, 503, 504]);

const utf8 = new TextDecoder();

/** The class of services over one compiled module. */
export function services({ TableClient, HiddenKeys, sha256 }) {
  /** A lookup service, and its client: keys are made once and uploaded once. */
  class LookupService {
    #url;
    #options;
    #table;
    #keys;
    #name;
    #known = null;
    #uploads = 0;

    constructor(url, options) {
      this.#url = url;
      this.#options = options;
    }

    /** Fetches the schema of a service's table and makes keys. */
    static async connect(url, options = {}) {
      const { secret, passphrase, schemaHash, token, retries = 5, timeout = 120_000 } = options;
      const tell = options.onProgress ?? (() => {});
      const service = new LookupService(addressOf(url), { token, retries, timeout, fetch: options.fetch, tell });
      checkToken(token, service.#url);
      tell("schema");
      const table = new TableClient(await service.#fetchSchema(), { secret, passphrase });
      service.#checkHash(table, schemaHash);
      service.#adopt(table);
      return service;
    }

    get url() {
      return this.#url;
    }

    get client() {
      return this.#table;
    }

    get securityBits() {
      return this.#table.securityBits;
    }

    get uploads() {
      return this.#uploads;
    }

    /** Rows as bytes; null for a row that is not there. */
    async ask(wanted, { portions = false, signal } = {}) {
      const table = this.#table;
      await this.#introduce(signal);
      const [asked, count] = await this.#hidden(wanted, signal);
      try {
        return await (portions && !(asked instanceof HiddenKeys)
          ? this.#inPortions(table, asked, signal)
          : this.#exchange(table.query(asked), table.answerBytes(count), signal).then((answer) =>
              table.rows(answer, asked),
            ));
      } finally {
        if (asked instanceof HiddenKeys) asked.free();
      }
    }

    /** The file of the secret key, encrypted if there is a passphrase. */
    secret(options) {
      return this.#table.secret(options);
    }

    /** Rows as objects of their columns. */
    async records(wanted, options) {
      const table = this.#table;
      return (await this.ask(wanted, options)).map((row) => table.record(row));
    }

    /**
     * Fetches the present schema. Returns whether the table has another layout: then fresh keys
     * were made, unless `secret` fits it.
     */
    async refresh({ secret, passphrase } = {}) {
      const schema = await this.#fetchSchema();
      const kept = secret ?? this.#table.secret();
      let next;
      try {
        next = new TableClient(schema, { secret: kept, passphrase });
      } catch (error) {
        if (secret !== undefined || error.code !== "OtherContext") throw error;
        next = new TableClient(schema);
      } finally {
        if (secret === undefined) kept.fill(0);
      }
      const other = next.schemaHash !== this.#table.schemaHash;
      this.#table.free();
      if (other) this.#adopt(next);
      else this.#table = next;
      return other;
    }

    free() {
      this.#table.free();
    }

    [Symbol.dispose]() {
      this.free();
    }

    #adopt(table) {
      this.#table = table;
      this.#options.tell("keys");
      this.#keys = table.evaluationKeys();
      this.#name = sha256(this.#keys);
      this.#known = null;
    }

    #checkHash(table, expected) {
      if (expected === undefined || (expected.length >= 8 && table.schemaHash.startsWith(expected))) return;
      const found = table.schemaHash;
      table.free();
      throw new WindlassError(
        "TableReplaced",
        `${this.#url} has a table with the schema ${found.slice(0, 16)}, not ${expected}: ask its owner whether the table was replaced`,
      );
    }

    /** Uploads the evaluation keys unless the service has them. */
    async #introduce(signal) {
      this.#known ??= (async () => {
        const response = await this.#send("HEAD", `/keys/${this.#name}`, undefined, 0, signal);
        if (response.status !== 200) await this.#upload(signal);
      })();
      try {
        await this.#known;
      } catch (error) {
        this.#known = null;
        throw error;
      }
    }

    async #upload(signal) {
      this.#uploads += 1;
      this.#options.tell("upload");
      this.#expect(await this.#send("PUT", `/keys/${this.#name}`, this.#keys, TEXT, signal), 200, 201, 204);
    }

    /** What to ask for: where keys are hidden, what stands for them. */
    async #hidden(wanted, signal) {
      const count = countOf(wanted);
      if (!this.#table.hidesKeys || count === 0) return [wanted, count];
      const blinding = this.#table.blind(wanted);
      try {
        const { points } = blinding;
        const response = await this.#send("POST", "/blind", points, Math.max(points.length, TEXT), signal);
        this.#expect(response, 200);
        return [blinding.finish(response.body), count];
      } finally {
        blinding.free();
      }
    }

    async #inPortions(table, asked, signal) {
      const gathering = table.inPortions(asked);
      try {
        for (let query = gathering.query(); query !== null; query = gathering.query()) {
          gathering.read(await this.#exchange(query, Infinity, signal));
        }
        return gathering.rows();
      } finally {
        gathering.free();
      }
    }

    /** The answer to a query. Keys that had to make room are uploaded again. */
    async #exchange(query, most, signal) {
      this.#options.tell("ask");
      for (let left = this.#options.retries; ; left -= 1) {
        const response = await this.#send("POST", `/ask?keys=${this.#name}`, query, most, signal);
        if (response.status !== 404 || kindOf(response) !== "unknown-keys" || left === 0) {
          this.#expect(response, 200);
          return response.body;
        }
        await this.#upload(signal);
      }
    }

    async #fetchSchema() {
      const response = await this.#send("GET", "/schema", undefined, TEXT);
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
            const reason = error.cause?.code ?? error.message;
            throw new WindlassError("ServiceUnavailable", `${this.#url} cannot be reached: ${reason}`);
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
      const late = AbortSignal.timeout(timeout);
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

/** How many rows are asked for. */
function countOf(wanted) {
  if (typeof wanted !== "object" || wanted === null || !(Symbol.iterator in wanted)) return 1;
  return wanted instanceof Uint8Array ? 1 : Array.from(wanted).length;
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
    return Object.fromEntries(texts.map(([name, text]) => [name, text.slice(0, 300).replace(/\p{Cc}/gu, " ")]));
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

