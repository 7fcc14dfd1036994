// A service in a worker, so that long calls do not hold up the page.
import { WindlassError } from "./errors.js";

/** Connects to a service in a worker of its own. */
export async function connectInWorker(url, { onProgress, ...options } = {}) {
  if (options.fetch !== undefined) throw new WindlassError("ParameterError", "a worker asks by its own fetch: leave fetch out");
  const worker = new Worker(new URL("./worker-thread.js", import.meta.url), { type: "module" });
  const service = new WorkerService(worker, onProgress);
  try {
    await service.connect(new URL(url, globalThis.location?.href).href, options);
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

  constructor(worker, onProgress) {
    this.#worker = worker;
    worker.addEventListener("message", ({ data: { id, stage, value, error } }) => {
      if (stage !== undefined) return onProgress?.(stage);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(error.code === undefined ? new DOMException(error.message, error.name) : errorOf(error));
    });
    worker.addEventListener("error", (event) => {
      this.#end(new WindlassError("NotLoaded", `the worker of windlass cannot be started: ${event.message ?? "see the console"}`));
    });
  }

  connect(url, options) {
    return this.#call("connect", [url, options]);
  }

  ask(wanted, { portions = false, signal } = {}) {
    return this.#call("ask", [listed(wanted), { portions }], signal);
  }

  records(wanted, { portions = false, signal } = {}) {
    return this.#call("records", [listed(wanted), { portions }], signal);
  }

  secret(options = {}) {
    return this.#call("secret", [options]);
  }

  refresh(options = {}) {
    return this.#call("refresh", [options]);
  }

  /** Ends the worker, and with it its memory. */
  free() {
    this.#worker.terminate();
    this.#end(new WindlassError("Stopped", "the worker of this service was freed"));
  }

  [Symbol.dispose]() {
    this.free();
  }

  #end(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #call(method, given, signal) {
    this.#last += 1;
    const id = this.#last;
    signal?.addEventListener("abort", () => this.#worker.postMessage({ abort: id }), { once: true });
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, given });
    });
  }
}

/** Iterables do not travel, arrays do. */
function listed(wanted) {
  const one = typeof wanted !== "object" || wanted === null || ArrayBuffer.isView(wanted) || wanted instanceof ArrayBuffer;
  return one ? wanted : Array.from(wanted);
}

function errorOf({ code, message, ...data }) {
  return new WindlassError(code, message, data);
}
