// The page's end of a worker, and storage, at stand-ins for what Node does not have.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { forgetSecret, keepSecret, keptSecret } from "../storage.js";
import { connectInWorker } from "../worker.js";

const FACTS = { url: "http://host", securityBits: 128, schemaHash: "0".repeat(64) };
let last;

/** A worker that connects, and answers nothing else. */
class Silent extends EventTarget {
  sent = [];
  ended = 0;

  constructor() {
    super();
    last = this;
  }

  postMessage(message) {
    this.sent.push(structuredClone(message));
    if (message.method === "connect") queueMicrotask(() => (this.tell({ facts: FACTS }), this.tell({ id: message.id })));
  }

  tell(data) {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  terminate() {
    this.ended += 1;
  }
}

afterEach(() => {
  delete globalThis.Worker;
  delete globalThis.indexedDB;
});

/** A service in a worker that answers nothing. */
function silent() {
  globalThis.Worker = Silent;
  return connectInWorker("http://host");
}

/** Counts what hears a signal. */
function counted(signal) {
  let count = 0;
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (...given) => ((count += 1), add.apply(signal, given));
  signal.removeEventListener = (...given) => ((count -= 1), remove.apply(signal, given));
  return () => count;
}

test("no call waits for a worker that was freed or failed", { timeout: 10_000 }, async () => {
  const service = await silent();
  assert.deepEqual([service.url, service.securityBits, service.schemaHash], Object.values(FACTS));
  const before = service.ask("a");
  service.free();
  service.free();
  assert.equal(last.ended, 1);
  for (const call of [before, service.ask("a"), service.secret(), service.refresh()]) await assert.rejects(call, { code: "Freed" });

  const failing = await silent();
  const asked = failing.records("a");
  last.dispatchEvent(Object.assign(new Event("error"), { message: "no module" }));
  for (const call of [asked, failing.records("a")]) await assert.rejects(call, { code: "NotLoaded", message: /no module/ });
  last.tell({ id: 2, value: [] });
  assert.equal(last.ended, 1);
});

test("a signal is heard while its call lasts", { timeout: 10_000 }, async () => {
  const service = await silent();
  const stop = new AbortController();
  const count = counted(stop.signal);
  const asked = service.ask(new Set(["a"]), { signal: stop.signal });
  assert.equal(count(), 1);
  const { id, given } = last.sent.at(-1);
  assert.deepEqual(given[0], ["a"]);
  last.tell({ id, value: [null] });
  assert.deepEqual(await asked, [null]);
  assert.equal(count(), 0);
  await assert.rejects(service.secret({ passphrase: () => {} }), { code: "DTypeError", message: /cannot be given/ });
  stop.abort();
  await assert.rejects(service.ask("a", { signal: stop.signal }), { name: "AbortError" });
  await assert.rejects(connectInWorker("no url"), { code: "ParameterError" });
});

/** A store that refuses in the way a test asks for. */
function store({ transaction = {}, request = {}, put = () => {} }) {
  const soon = (one, name) => (queueMicrotask(() => one[name]?.()), one);
  const objects = {
    put: (value) => (put(value), soon({ ...request }, request.error ? "onerror" : "onsuccess")),
    get: () => soon({ ...request }, request.error ? "onerror" : "onsuccess"),
    delete: () => soon({ ...request }, request.error ? "onerror" : "onsuccess"),
  };
  const database = {
    close() {},
    transaction() {
      if (transaction.thrown) throw transaction.thrown;
      const one = { objectStore: () => objects, error: request.error };
      return soon(one, request.error ? "onabort" : "oncomplete");
    },
  };
  globalThis.indexedDB = { open: () => soon({ result: database }, "onsuccess") };
}

test("storage keeps a copy of a view alone, wipes it, and says what it cannot do", async () => {
  const [kept, given] = [[], []];
  const wide = new Uint8Array(100).fill(7);
  const put = (value) => (given.push(value), kept.push([value.buffer.byteLength, ...value]));
  store({ put });
  await keepSecret("name", wide.subarray(10, 15));
  assert.deepEqual(kept, [[5, 7, 7, 7, 7, 7]]);
  store({ put: (value) => { put(value); throw new Error("full"); } });
  await assert.rejects(keepSecret("name", wide.subarray(10, 12)));
  assert.deepEqual(given, [new Uint8Array(5), new Uint8Array(2)]);
  assert.ok(wide.every((byte) => byte === 7), "what the caller has stays");
  const full = new DOMException("the disk is full", "QuotaExceededError");
  for (const fault of [
    { request: { error: full } },
    { transaction: { thrown: full } },
    { put: () => { throw full; } },
  ]) {
    store(fault);
    const told = (words) => (error) => error.code === "StorageError" && error.cause === full && words.test(error.message);
    await assert.rejects(keepSecret("name", wide), told(/cannot store the key \(the disk is full\)/));
    if (fault.put) continue;
    await assert.rejects(keptSecret("name"), told(/cannot read the key/));
    await assert.rejects(forgetSecret("name"), told(/cannot remove the key/));
  }
  delete globalThis.indexedDB;
  await assert.rejects(keptSecret("name"), { code: "StorageError" });
});
