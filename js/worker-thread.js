// The worker's end of a service.
import { init, LookupService, WindlassError } from "./lookup.js";

const stops = new Map();
let service;

const methods = {
  async connect(url, options) {
    postMessage({ stage: "load" });
    await init();
    service = await LookupService.connect(url, { ...options, onProgress: (stage) => postMessage({ stage }) });
  },
  ask: (wanted, options) => service.ask(wanted, options),
  records: (wanted, options) => service.records(wanted, options),
  secret: (options) => service.secret(options),
  refresh: (options) => service.refresh(options),
};

addEventListener("message", async ({ data: { id, method, given, abort } }) => {
  if (abort !== undefined) return stops.get(abort)?.abort();
  const stop = new AbortController();
  stops.set(id, stop);
  const words = ["ask", "records"].includes(method) ? [given[0], { ...given[1], signal: stop.signal }] : given;
  try {
    postMessage({ id, value: await methods[method](...words) });
  } catch (error) {
    const { name, message, code, status, problem, fix } = error;
    const data = error instanceof WindlassError ? { code, status, problem, fix } : {};
    postMessage({ id, error: { name, message, ...data } });
  } finally {
    stops.delete(id);
  }
});
