// The worker's end of a service.
import { init, LookupService, WindlassError } from "./lookup.js";

const stops = new Map();
let service;

const methods = {
  async connect(url, options) {
    postMessage({ stage: "load" });
    await init();
    service = await LookupService.connect(url, { ...options, onProgress: (stage) => postMessage({ stage }) });
    tellFacts();
  },
  ask: (wanted, options) => service.ask(wanted, options),
  records: (wanted, options) => service.records(wanted, options),
  secret: (options) => service.secret(options),
  keys: (options) => service.keys(options),
  async refresh(options) {
    const other = await service.refresh(options);
    tellFacts();
    return other;
  },
};

/** Tells the page what it may read without a call. */
function tellFacts() {
  const { url, securityBits, client } = service;
  const { schemaHash, keyed, fields } = client;
  postMessage({ facts: { url, securityBits, schemaHash, keyed, fields } });
}

/** Overwrites what this worker has of a secret. Memory that the page shares with it is the page's. */
function wipe(given) {
  const buffer = ArrayBuffer.isView(given) ? given.buffer : given;
  if (buffer instanceof ArrayBuffer) new Uint8Array(buffer).fill(0);
}

/** What of a result moves to the page. */
const MOVED = { secret: (file) => [file.buffer], keys: ({ secret }) => [secret.buffer] };

/** Where each method takes options, and a signal with them. */
const PLACES = { connect: 1, ask: 1, records: 1, refresh: 0 };

addEventListener("message", async ({ data: { id, method, given, abort } }) => {
  if (abort !== undefined) return stops.get(abort)?.abort();
  const stop = new AbortController();
  stops.set(id, stop);
  const words = given.map((word, place) => (place === PLACES[method] ? { ...word, signal: stop.signal } : word));
  try {
    const value = await methods[method](...words);
    // The file of a secret moves to the page: no copy stays here.
    postMessage({ id, value }, MOVED[method]?.(value) ?? []);
  } catch (error) {
    const { name, message, code, status, problem, fix } = error;
    const data = error instanceof WindlassError ? { code, status, problem, fix } : {};
    postMessage({ id, error: { name, message, ...data } });
  } finally {
    for (const word of words) [word?.secret, word?.kept?.secret, word?.passphrase].forEach(wipe);
    stops.delete(id);
  }
});
