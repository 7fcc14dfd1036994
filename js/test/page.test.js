// The page of `windlass serve --page`, in headless Chromium: visitors ask on it.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { people, scratch, serve, windlass } from "../testing/service.js";

const chromium = process.env.WINDLASS_CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => undefined);
const skip = !existsSync(chromium) ? "Chromium is missing" : playwright === undefined ? "playwright-core is missing" : false;
const root = new URL("..", import.meta.url).pathname;

let browser, dir, service, page;
const faults = [];

before(async () => {
  if (skip) return;
  dir = people(scratch());
  service = await serve(dir, { options: ["--page", root] });
  const profile = mkdtempSync(join(tmpdir(), "windlass-chromium-"));
  process.on("exit", () => rmSync(profile, { recursive: true, force: true }));
  browser = await playwright.chromium.launchPersistentContext(profile, {
    executablePath: chromium,
    headless: true,
    viewport: { width: 1100, height: 1000 },
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
  page = await opened(service.url);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

async function opened(url) {
  const page = await browser.newPage();
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (said) => said.type() === "error" && faults.push(said.text()));
  await page.goto(url);
  return page;
}

/** What the page says and shows for a key. */
async function ask(page, key, patience = 120_000) {
  await page.fill("#wanted", key);
  await page.click("#ask");
  await page.waitForSelector("#answer-state.done, #answer-state.refused", { timeout: patience });
  await page.waitForSelector("#ask:enabled", { timeout: patience });
  return page.evaluate(() => ({
    kind: document.getElementById("answer-state").className,
    said: document.getElementById("answer-state").textContent,
    cells: Object.fromEntries(
      [...document.querySelectorAll("#row dt")].map((term) => [term.textContent, term.nextElementSibling.textContent]),
    ),
  }));
}

/** Bytes and paths of what the page sends. */
function listen(page) {
  const sent = [];
  page.on("request", (request) => sent.push({ url: request.url(), method: request.method(), body: request.postDataBuffer() }));
  return sent;
}

test("files of the client travel once, compressed", { skip, timeout: 60_000 }, async () => {
  const address = `${service.url}/client/pkg/lookup/windlass_wasm_bg.wasm`;
  const first = await fetch(address);
  assert.equal(first.headers.get("content-encoding"), "gzip");
  const headers = { "If-None-Match": first.headers.get("etag") };
  const again = await fetch(address, { headers });
  assert.deepEqual([again.status, (await again.arrayBuffer()).byteLength], [304, 0]);
  assert.equal(again.headers.get("content-security-policy"), first.headers.get("content-security-policy"));
  await WebAssembly.compile(await first.arrayBuffer());
});

test("visitors ask for twenty rows and for keys that are not there", { skip, timeout: 300_000 }, async () => {
  const sent = listen(page);
  for (let n = 0; n < 20; n += 1) {
    const { kind, said, cells } = await ask(page, `user-${25 * n}`);
    assert.equal(kind, "done", said);
    assert.deepEqual(cells, { id: `user-${25 * n}`, city: `city ${(25 * n) % 7}`, square: String((25 * n) ** 2) });
  }
  for (const absent of ["nobody", "user-500", "<b>user-1</b>"]) {
    const { said, cells } = await ask(page, absent);
    assert.deepEqual([said, cells], [`“${absent}”: the table has no such row`, {}]);
  }
  assert.ok(sent.every(({ url }) => url.startsWith(service.url)), "nothing comes from elsewhere");
  const clear = sent.filter(({ url, body }) => /user-|nobody/.test(url) || body?.includes("user-"));
  assert.deepEqual(clear, [], "no key is sent in the clear");
  assert.equal(sent.filter(({ method }) => method === "PUT").length <= 1, true, "keys are uploaded once");
  if (process.env.WINDLASS_SCREENSHOT !== undefined) {
    await ask(page, "user-475");
    await page.screenshot({ path: process.env.WINDLASS_SCREENSHOT });
  }
});

/** The stages and keys of a page: what it uploads, and what it says of the keys it keeps. */
const keysOf = (page) => page.textContent("#kept-state");
const uploads = (sent) => new Set(sent.filter(({ method }) => method === "PUT").map(({ url }) => url)).size;

/** Changes what the browser keeps for the page. */
function changeKept(page, change) {
  return page.evaluate(async (change) => {
    const done = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const database = await done(indexedDB.open("windlass", 1));
    const store = () => database.transaction("secrets", "readwrite").objectStore("secrets");
    const place = ["keys", "page"];
    const kept = await done(store().get(place));
    if (change === "damage") kept.evaluationKeys[kept.evaluationKeys.length >> 1] ^= 1;
    if (change !== "read") await done(store().put(kept, place));
    database.close();
    return kept && [kept.secret.length, kept.evaluationKeys.length, kept.schemaHash.length];
  }, change);
}

test("a reload finds its keys", { skip, timeout: 300_000 }, async () => {
  const sent = listen(page);
  for (const n of [3, 4]) {
    await page.reload();
    await page.waitForSelector("#forget:visible");
    assert.equal((await ask(page, `user-${n}`)).cells.square, String(n * n));
  }
  assert.deepEqual([uploads(sent), await keysOf(page)], [0, ""], "no load makes keys");
  const [secret, evaluation, hash] = await changeKept(page, "read");
  assert.ok(secret > 100 && evaluation > 10_000 && hash === 64);
  const elsewhere = await page.evaluate(async () => [localStorage.length, sessionStorage.length, await caches.keys(), document.cookie]);
  assert.deepEqual(elsewhere, [0, 0, [], ""]);
});

test("kept keys that are damaged are replaced, in words", { skip, timeout: 300_000 }, async () => {
  const sent = listen(page);
  await changeKept(page, "damage");
  await page.reload();
  assert.equal((await ask(page, "user-5")).cells.square, "25");
  assert.match(await keysOf(page), /are damaged. New keys were made/);
  await page.reload();
  assert.equal((await ask(page, "user-6")).cells.square, "36");
  assert.deepEqual([uploads(sent), await keysOf(page)], [1, ""]);
});

test("keys are forgotten when the visitor says so", { skip, timeout: 300_000 }, async () => {
  const sent = listen(page);
  await page.reload();
  await page.click("#forget");
  await page.waitForFunction(() => document.getElementById("kept-state").textContent.includes("are forgotten"));
  assert.equal(await page.isVisible("#forget"), false);
  assert.equal(await changeKept(page, "read"), undefined);
  assert.equal((await ask(page, "user-7")).cells.square, "49");
  assert.equal(uploads(sent), 1);
  await page.click("#forget");
  await page.waitForFunction(() => document.getElementById("forget").hidden);
  assert.equal((await ask(page, "user-8")).cells.square, "64");
  assert.equal(uploads(sent), 2);
});

test("where storage is full or forbidden, keys stay in memory and the page says so", { skip, timeout: 300_000 }, async () => {
  const forbid = () => (IDBFactory.prototype.open = () => { throw new DOMException("denied", "SecurityError"); });
  const full = () => (IDBObjectStore.prototype.put = () => { throw new DOMException("the disk is full", "QuotaExceededError"); });
  const proxy = await between(service.url);
  for (const [fault, words] of [[forbid, /denied/], [full, /the disk is full/]]) {
    const other = await browser.newPage();
    await other.addInitScript(fault);
    await other.goto(proxy.url);
    for (const n of [2, 3]) assert.equal((await ask(other, `user-${n}`)).cells.square, String(n * n));
    const said = await keysOf(other);
    assert.match(said, /in memory alone, and gone when you leave/);
    assert.match(said, words);
    assert.equal(await other.isVisible("#forget"), false);
    await other.close();
  }
  proxy.stop();
});

test("what is asked for cannot change meanwhile, and stands with its row", { skip, timeout: 120_000 }, async () => {
  const proxy = await between(service.url);
  const other = await opened(proxy.url);
  await ask(other, "user-1");
  let answer;
  proxy.held = new Promise((resolve) => (answer = resolve));
  await other.fill("#wanted", "user-8");
  await other.press("#wanted", "Enter");
  const enabled = () => other.evaluate(() => ["wanted", "ask"].filter((id) => !document.getElementById(id).disabled));
  assert.deepEqual(await enabled(), []);
  answer();
  await other.waitForSelector("#answer-state.done");
  assert.match(await other.textContent("#answer-state"), /^“user-8”: the row, after [0-9.]+ s$/);
  assert.deepEqual(await enabled(), ["wanted", "ask"]);
  assert.equal(await other.evaluate(() => document.activeElement.id), "wanted");
  const { said } = await ask(other, "<i>user-9</i>");
  assert.equal(said, "“<i>user-9</i>”: the table has no such row");
  await other.close();
  proxy.stop();
});

test("columns have the order of the table", { skip, timeout: 120_000 }, async () => {
  const place = scratch();
  writeFileSync(join(place, "years.csv"), "id,2024,total,2023,__proto__\na,4,sum,3,p\nb,5,all,6,q\n");
  windlass("table", "build", "--table", join(place, "years.csv"), "--key", "id", "--out", join(place, "served"));
  const years = await serve(join(place, "served"), { options: ["--page", root] });
  const other = await opened(years.url);
  await ask(other, "a");
  assert.deepEqual(await other.locator("#row dt").allTextContents(), ["id", "2024", "total", "2023", "__proto__"]);
  assert.deepEqual(await other.locator("#row dd").allTextContents(), ["a", "4", "sum", "3", "p"]);
  await other.close();
  await years.stop();
});

test("the page runs only scripts of the service", { skip, timeout: 60_000 }, async () => {
  const policy = (await fetch(service.url)).headers.get("Content-Security-Policy");
  assert.match(policy, /script-src 'sha256-[^']+' 'self' 'wasm-unsafe-eval'; worker-src 'self'$/);
  assert.doesNotMatch(policy, /script-src[^;]*'unsafe-(inline|eval)'/);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    return window.injected === true;
  });
  assert.equal(ran, false);
  const status = async (path) => (await fetch(service.url + path)).status;
  assert.deepEqual(await Promise.all(["/client/lookup.js", "/client/index.js", "/client/package.json", "/client/%2e%2e/Cargo.toml"].map(status)), [200, 404, 404, 404]);
});

test("a damaged answer is refused, and the next ask is right", { skip, timeout: 120_000 }, async () => {
  const proxy = await between(service.url);
  const other = await opened(proxy.url);
  proxy.damage = true;
  const { kind, said, cells } = await ask(other, "user-5");
  assert.deepEqual([kind, cells], ["refused", {}], said);
  proxy.damage = false;
  assert.equal((await ask(other, "user-5")).cells.square, "25");
  await other.close();
  proxy.stop();
});

/** Replaces the table of the service by one of the same rows and another schema. */
async function replaceTable(turn) {
  const version = async () => (await (await fetch(`${service.url}/stats.json`)).json()).table.schema;
  const before = await version();
  const next = people(scratch());
  renameSync(dir, `${dir}-old-${turn}`);
  cpSync(next, `${dir}-next`, { recursive: true });
  renameSync(`${dir}-next`, dir);
  while ((await version()) === before) await new Promise((resolve) => setTimeout(resolve, 200));
}

test("a table that is replaced meanwhile is asked again, and the keys for it are kept", { skip, timeout: 120_000 }, async () => {
  await replaceTable(1);
  const { said, cells } = await ask(page, "user-6");
  assert.equal(cells.square, "36", said);
  assert.match(await keysOf(page), /^The table was replaced/);
  const sent = listen(page);
  await page.reload();
  assert.equal((await ask(page, "user-7")).cells.square, "49");
  assert.deepEqual([uploads(sent), await keysOf(page)], [0, ""]);
});

test("a table that was replaced between visits is told, and new keys are kept", { skip, timeout: 120_000 }, async () => {
  await replaceTable(2);
  await page.reload();
  assert.equal((await ask(page, "user-8")).cells.square, "64");
  assert.match(await keysOf(page), /was replaced since your last visit/);
  await page.reload();
  assert.equal((await ask(page, "user-9")).cells.square, "81");
  assert.equal(await keysOf(page), "");
});

test("a service that is gone is named", { skip, timeout: 120_000 }, async () => {
  await service.stop();
  const { kind, said, cells } = await ask(page, "user-7");
  assert.deepEqual([kind, cells], ["refused", {}]);
  assert.match(said, /cannot be reached/);
});

test("no script of the page failed", { skip }, () => {
  // The browser reports statuses, refused connections and the script that a test injected as errors.
  const expected = /status of 4|ERR_CONNECTION|ERR_EMPTY|Content Security Policy/;
  assert.deepEqual(faults.filter((fault) => !expected.test(fault)), []);
});

/** A service behind what may change its answers, or hold them back. */
async function between(target) {
  const own = { damage: false, held: undefined };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
    const answer = await fetch(target + request.url, { method: request.method, body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (request.url.startsWith("/ask")) await own.held;
    if (own.damage && request.url.startsWith("/ask")) bytes[bytes.length >> 1] ^= 1;
    const headers = ["Content-Type", "Content-Security-Policy"].map((name) => [name, answer.headers.get(name)]);
    response.writeHead(answer.status, Object.fromEntries(headers.filter(([, value]) => value !== null)));
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  own.url = `http://127.0.0.1:${server.address().port}`;
  own.stop = () => server.close();
  return own;
}
