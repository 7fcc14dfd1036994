// A service in a worker, so that long calls do not hold up the page.
import { freed, WindlassError } from "./errors.js";

/** Connects to a service in a worker of its own. */
export async function connectInWorker(url, { onProgress, signal, ...options } = {}) {
  if (options.fetch !== undefined) throw new WindlassError("ParameterError", "a worker asks by its own fetch: leave fetch out");
  const address = addressOf(url);
  const worker = new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
  const service = new WorkerService(worker, onProgress);
  try {
    await service.connect(address, options, signal);
  } catch (error) {
    service.free();
    throw error;
  }
  return service;
}

/** The page's end of a service in a worker. */
class WorkerService {
  #worker;
  #waiting = new Map();
  #last = 0;
  /** Why no call is answered any more. */
  #ended = null;
  #facts = {};

  constructor(worker, onProgress) {
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => this.#hear(data, onProgress));
    worker.addEventListener("messageerror", () => this.#fail("it sent what cannot be read"));
    worker.addEventListener("error", (event) => this.#fail(event.message ?? "see the console"));
  }

  get url() {
    return this.#facts.url;
  }

  get securityBits() {
    return this.#facts.securityBits;
  }

  /** The hash of the schema, to be pinned. */
  get schemaHash() {
    return this.#facts.schemaHash;
  }

  /** Whether rows are asked for by key, not by number. */
  get keyed() {
    return this.#facts.keyed;
  }

  /** The names of the columns. */
  get fields() {
    return this.#facts.fields;
  }

  connect(url, options, signal) {
    return this.#call("connect", [url, options], signal);
  }

  async ask(wanted, { portions = false, signal } = {}) {
    return this.#call("ask", [listed(wanted), { portions }], signal);
  }

  async records(wanted, { portions = false, signal } = {}) {
    return this.#call("records", [listed(wanted), { portions }], signal);
  }

  secret(options = {}) {
    return this.#call("secret", [options]);
  }

  keys(options = {}) {
    return this.#call("keys", [options]);
  }

  refresh({ signal, ...options } = {}) {
    return this.#call("refresh", [options], signal);
  }

  /** Ends the worker, and with it its memory. */
  free() {
    this.#end(freed());
  }

  [Symbol.dispose]() {
    this.free();
  }

  #hear({ id, stage, value, facts, error }, onProgress) {
    if (stage !== undefined) return onProgress?.(stage);
    this.#facts = facts ?? this.#facts;
    const call = this.#waiting.get(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(error.code === undefined ? new DOMException(error.message, error.name) : errorOf(error));
  }

  #fail(why) {
    this.#end(new WindlassError("NotLoaded", `the worker of windlass cannot be started, or failed: ${why}`));
  }

  #end(error) {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  /** Calls a method in the worker; what waits for it is gone once it is settled. */
  async #call(method, given, signal) {
    if (this.#ended !== null) throw this.#ended;
    signal?.throwIfAborted();
    this.#last += 1;
    const id = this.#last;
    const stop = () => this.#worker.postMessage({ abort: id });
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.#send({ id, method, given });
        signal?.addEventListener("abort", stop, { once: true });
      });
    } finally {
      this.#waiting.delete(id);
      signal?.removeEventListener("abort", stop);
    }
  }

  #send(message) {
    try {
      this.#worker.postMessage(message);
    } catch (error) {
      throw new WindlassError("DTypeError", `a worker cannot be given this: ${error.message}`, { cause: error });
    }
  }
}

/** Iterables do not travel, arrays do. */
function listed(wanted) {
  const one = typeof wanted !== "object" || wanted === null || ArrayBuffer.isView(wanted) || wanted instanceof ArrayBuffer;
  return one ? wanted : Array.from(wanted);
}

/** The address as the page means it: a worker would read it against its own. */
function addressOf(url) {
  try {
    return new URL(url, globalThis.location?.href).href;
  } catch (cause) {
    throw new WindlassError("ParameterError", `${url} is not the URL of a service: write https://HOST:PORT`, { cause });
  }
}

function errorOf({ code, message, ...data }) {
  return new WindlassError(code, message, data);
}
