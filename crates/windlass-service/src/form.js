// The form of a service's page. What a visitor types stays in the browser; the service gets an encrypted query.
import { forgetSecret, keepSecret, keptSecret } from "./storage.js";
import { connectInWorker } from "./worker.js";

/** A service has one table, and an origin one service. */
const KEPT = "windlass serve";
const STAGES = {
  load: "loading the client",
  schema: "reading the description of the table",
  keys: "making keys",
  upload: "sending the evaluation keys",
  ask: "asking",
};
/** After these the worker answers no more. */
const ENDED = new Set(["NotLoaded", "Stopped", "Freed"]);
/** A kept key that these refuse is of no use for this table. */
const UNUSABLE = new Set(["OtherContext", "FileError", "PassphraseNeeded"]);

const byId = (id) => document.getElementById(id);
/** The connection, or what it waits for. */
let connection;

function say(text, kind = "") {
  byId("answer-state").textContent = text;
  byId("answer-state").className = kind;
}

function open(secret) {
  const onProgress = (stage) => say(`${STAGES[stage] ?? stage} …`);
  return connectInWorker(location.origin, { retries: 2, onProgress, ...(secret === undefined ? {} : { secret }) });
}

/** Keeps the key of a service. A browser without storage makes another after a reload. */
async function keep(service) {
  const secret = await service.secret();
  await keepSecret(KEPT, secret).catch(() => {});
  secret.fill(0);
}

async function connect() {
  const secret = await keptSecret(KEPT).catch(() => undefined);
  if (secret !== undefined) {
    try {
      return await open(secret);
    } catch (error) {
      if (!UNUSABLE.has(error.code)) throw error;
    } finally {
      secret.fill(0);
    }
  }
  const service = await open();
  await keep(service);
  return service;
}

/** The service, which is connected to once. */
function connected() {
  connection ??= connect().catch((error) => {
    connection = undefined;
    throw error;
  });
  return connection;
}

/** The cells of a row with their names, or nothing. */
async function rowOf(service, text) {
  if (!service.keyed && !/^\d{1,10}$/.test(text.trim())) throw new Error("this table is asked by row number: type one, from 0");
  const wanted = service.keyed ? text : Number(text);
  if (service.fields.length > 0) {
    const [record] = await service.records(wanted);
    return record === null ? null : Object.entries(record);
  }
  const [row] = await service.ask(wanted);
  return row === null ? null : [["row", new TextDecoder().decode(row)]];
}

async function ask(text) {
  const service = await connected();
  try {
    return await rowOf(service, text);
  } catch (error) {
    if (error.code !== "TableReplaced") throw error;
  }
  say("the table was replaced: asking again …");
  if (await service.refresh()) await keep(service);
  return rowOf(service, text);
}

function show(cells) {
  const nodes = (cells ?? []).flatMap(([name, value]) => {
    const [term, said] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    said.textContent = value;
    return [term, said];
  });
  byId("row").replaceChildren(...nodes);
}

async function submitted(event) {
  event.preventDefault();
  byId("ask").disabled = true;
  show(null);
  try {
    const begun = performance.now();
    const cells = await ask(byId("wanted").value);
    show(cells);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    say(cells === null ? "the table has no such row" : `the row, after ${seconds} s`, "done");
  } catch (error) {
    if (ENDED.has(error.code)) await ended();
    say(error.message, "refused");
  } finally {
    byId("ask").disabled = false;
  }
}

/** Frees the worker; the next ask starts another. */
async function ended() {
  const service = await connection?.catch(() => undefined);
  connection = undefined;
  service?.free();
}

async function forget() {
  try {
    await forgetSecret(KEPT);
    await ended();
    show(null);
    say("the key is forgotten: the next ask makes another");
  } catch (error) {
    say(error.message, "refused");
  }
}

byId("form").addEventListener("submit", submitted);
byId("forget").addEventListener("click", forget);
