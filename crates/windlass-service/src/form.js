// The form of a service's page. What a visitor types stays in the browser; the service gets an encrypted query.
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

const byId = (id) => document.getElementById(id);
/** The service in its worker, once connected. Its keys are in memory alone. */
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

async function ask(text) {
  const onProgress = (stage) => say(`${STAGES[stage] ?? stage} …`);
  service ??= await connectInWorker(location.origin, { retries: 2, onProgress });
  try {
    return await rowOf(text);
  } catch (error) {
    if (error.code !== "TableReplaced") throw error;
  }
  say("the table was replaced: asking again …");
  await service.refresh();
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
  byId("ask").disabled = yes;
  byId("wanted").disabled = yes;
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

byId("form").addEventListener("submit", submitted);
