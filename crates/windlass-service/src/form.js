// The form of a service's page. What a visitor types stays in the browser; the service gets an encrypted query.
import { forgetKeys, keepKeys, keptKeys } from "./storage.js";
import { connectInWorker } from "./worker.js";

const STAGES = {
  load: "loading the client",
  schema: "reading the description of the table",
  keys: "making keys",
  upload: "sending the evaluation keys",
  ask: "asking",
};
/** After these the worker answers no more. */
const ENDED = new Set(["NotLoaded", "Stopped"]);
/** What kept keys are refused for. */
const UNFIT = {
  TableReplaced: "The table was replaced since your last visit, so the keys that were kept are of no more use. New keys were made.",
  FileError: "The keys that were kept are damaged. New keys were made.",
  DTypeError: "The keys that were kept are damaged. New keys were made.",
  OtherContext: "The keys that were kept do not belong together. New keys were made.",
  OtherKeyPair: "The keys that were kept do not belong together. New keys were made.",
};
/** The name of the keys in the storage of this address. */
const NAME = "page";

const byId = (id) => document.getElementById(id);
/** The service in its worker, once connected. */
let service;

function say(text, kind = "") {
  byId("answer-state").textContent = text;
  byId("answer-state").className = kind;
}

/** The cells of a row with their names, or nothing. */
async function rowOf(text) {
  if (!service.keyed && !/^\d{1,10}$/.test(text.trim())) throw new Error("this table is asked by row number: type one, from 0");
  const wanted = service.keyed ? text : Number(text);
  if (service.fields.length > 0) {
    const [record] = await service.records(wanted);
    // By the schema: an object has names that are whole numbers before all others.
    return record === null ? null : service.fields.map((field) => [field, record[field]]);
  }
  const [row] = await service.ask(wanted);
  return row === null ? null : [["row", new TextDecoder().decode(row)]];
}

/** Says what became of the keys, and whether there are some to forget. */
function tellKept(text, kept) {
  byId("kept-state").textContent = text;
  byId("forget").hidden = !kept;
}

function unstored(error) {
  return `The keys are in memory alone, and gone when you leave or reload this page: ${error.message}`;
}

/** The keys of an earlier visit, if the browser has them and gives them. */
async function earlier() {
  try {
    return await keptKeys(NAME);
  } catch (error) {
    tellKept(unstored(error), false);
  }
}

/** Keeps the keys of the service. What the browser refuses to store stays in memory. */
async function keep(why = "") {
  const keys = await service.keys();
  try {
    await keepKeys(NAME, keys);
    tellKept(why, true);
  } catch (error) {
    tellKept([why, unstored(error)].filter(Boolean).join(" "), false);
  } finally {
    keys.secret.fill(0);
  }
}

/** A service with the keys of an earlier visit, or with new ones. */
async function connect() {
  const onProgress = (stage) => say(`${STAGES[stage] ?? stage} …`);
  const options = { retries: 2, onProgress };
  const kept = await earlier();
  let why;
  if (kept !== undefined) {
    try {
      service = await connectInWorker(location.origin, { ...options, kept });
      return tellKept("", true);
    } catch (error) {
      why = UNFIT[error.code];
      if (why === undefined) throw error;
    } finally {
      kept.secret?.fill?.(0);
    }
  }
  service = await connectInWorker(location.origin, options);
  await keep(why);
}

async function ask(text) {
  if (service === undefined) await connect();
  try {
    return await rowOf(text);
  } catch (error) {
    if (error.code !== "TableReplaced") throw error;
  }
  say("the table was replaced: asking again …");
  await service.refresh();
  await keep("The table was replaced. The keys that are kept now fit the new one.");
  return rowOf(text);
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

/** While a query is under way, no other can be typed or sent. */
function asking(yes) {
  for (const id of ["ask", "wanted", "forget"]) byId(id).disabled = yes;
}

async function submitted(event) {
  event.preventDefault();
  const text = byId("wanted").value;
  const typing = document.activeElement === byId("wanted");
  asking(true);
  show(null);
  try {
    const begun = performance.now();
    const cells = await ask(text);
    show(cells);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    say(cells === null ? `“${text}”: the table has no such row` : `“${text}”: the row, after ${seconds} s`, "done");
  } catch (error) {
    if (ENDED.has(error.code)) ended();
    say(error.message, "refused");
  } finally {
    asking(false);
    if (typing) byId("wanted").focus();
  }
}

/** Ends the worker; the next ask starts another. */
function ended() {
  service?.free();
  service = undefined;
}

/** Removes the keys from the browser, and from memory. */
async function forget() {
  ended();
  try {
    await forgetKeys(NAME);
    tellKept("The keys are forgotten. The next question makes new ones.", false);
  } catch (error) {
    byId("kept-state").textContent = error.message;
  }
}

byId("form").addEventListener("submit", submitted);
byId("forget").addEventListener("click", forget);
// Keys of an earlier visit can be forgotten before anything is asked.
if ((await earlier()) !== undefined) tellKept("", true);
