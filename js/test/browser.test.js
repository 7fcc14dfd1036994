// The package in a real browser: headless Chromium, from a page with a strict Content-Security-Policy.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { test } from "node:test";
import { people, scratch, serve, windlass } from "../testing/service.js";

const chromium = process.env.WINDLASS_CHROMIUM ?? "/usr/bin/chromium";
const playwright = await import("playwright-core").catch(() => undefined);
const skip = !existsSync(chromium) ? "Chromium is missing" : playwright === undefined ? "playwright-core is missing" : false;

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const PAGE = `<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/page.js"></script>`;
const SCRIPT = `
import { init, LookupService } from "/js/lookup.js";
import * as all from "/js/index.js";
import { forgetSecret, keepSecret, keptSecret } from "/js/storage.js";
import { connectInWorker } from "/js/worker.js";
window.run = async (name, ...given) => tests[name](...given);
const tests = {
  async lookup(keys) {
    await init();
    const service = await LookupService.connect(location.origin);
    const rows = await service.records(keys);
    const bits = service.securityBits;
    const secret = service.secret({ passphrase: "words" });
    const wide = new Uint8Array(secret.length + 1000);
    wide.set(secret, 500);
    await keepSecret(location.origin, wide.subarray(500, 500 + secret.length));
    service.free();
    return { rows, bits };
  },
  async again(key) {
    await init();
    const open = async (passphrase) =>
      LookupService.connect(location.origin, { secret: await keptSecret(location.origin), passphrase });
    const kept = await keptSecret(location.origin);
    const whole = kept.buffer.byteLength === kept.length;
    const service = await open("words");
    const [row] = await service.records(key);
    const guessed = await open("a guess").then(() => "open", (error) => error.code);
    await forgetSecret(location.origin);
    return { square: row.square, whole, guessed, left: await keptSecret(location.origin) };
  },
  async vectors() {
    await all.init();
    const context = all.Context.plan();
    const client = new all.Client(context);
    return String(client.decrypt(client.encrypt(BigInt64Array.of(5n, -6n))).subarray(0, 2));
  },
  async worker(keys) {
    const stages = [];
    const service = await connectInWorker(location.origin, { onProgress: (stage) => stages.push(stage) });
    const rows = await service.records(keys);
    const stop = new AbortController();
    const asked = service.ask(keys, { signal: stop.signal });
    stop.abort();
    const stopped = await asked.then(() => "found", (error) => error.name);
    const wrong = await service.ask([1.5]).then(() => "found", (error) => error.code);
    const freed = service.ask(keys).then(() => "found", (error) => error.code);
    const { url, securityBits, schemaHash } = service;
    const unsent = await service.secret({ passphrase: () => {} }).then(() => "sent", (error) => error.code);
    service.free();
    service.free();
    const late = await service.ask(keys).then(() => "found", (error) => error.code);
    const facts = [url === location.origin, securityBits >= 128, schemaHash.length];
    const early = { signal: AbortSignal.abort() };
    const unopened = await connectInWorker(location.origin, early).then(() => "open", (error) => error.name);
    return { rows, stages, stopped, wrong, freed: await freed, late, unsent, unopened, facts };
  },
  async gone() {
    const own = await LookupService.connect(location.origin, { retries: 0 });
    window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    return own.ask("user-1").then(() => "found", (error) => error.code);
  },
};
window.ready = true;
`;

/** Serves the package below a folder and some files, and hands everything else to the service. */
async function site(service, folder = "/js/", files = { "/": PAGE, "/page.js": SCRIPT }) {
  const root = new URL("..", import.meta.url).pathname;
  const server = createServer(async (request, response) => {
    response.setHeader("Content-Security-Policy", POLICY);
    const path = normalize(new URL(request.url, "http://host").pathname);
    if (path in files) {
      response.setHeader("Content-Type", path === "/" ? "text/html" : "text/javascript");
      return response.end(files[path]);
    }
    if (path.startsWith(folder)) {
      response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/plain");
      return response.end(readFileSync(join(root, path.slice(folder.length))));
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
    const answer = await fetch(service.url + request.url, { method: request.method, body });
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") ?? "text/plain" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close() };
}

/** A browser with a profile of its own. */
function launched() {
  return playwright.chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "windlass-chromium-")), {
    executablePath: chromium,
    headless: true,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync"],
    ],
  });
}

test("the page of the guide asks for rows", { skip, timeout: 300_000 }, async () => {
  const root = new URL("../..", import.meta.url).pathname;
  const guide = readFileSync(join(root, "docs/how-to/browser.md"), "utf8").split("## A whole page")[1];
  const block = (kind) => guide.split(`\`\`\`${kind}\n`)[1].split("```")[0];
  const dir = join(scratch(), "zones");
  windlass("table", "build", "--table", join(root, "data/zones.csv"), "--key", "zone", "--out", dir);
  const service = await serve(dir);
  const pages = await site(service, "/windlass/", { "/": block("html"), "/zones.js": block("js") });
  const browser = await launched();
  const page = await browser.newPage();
  const said = async (zone, words) => {
    await page.fill("input", zone);
    await page.click("button");
    await page.waitForFunction((words) => document.querySelector("p").textContent === words, words, { timeout: 120_000 });
    await page.waitForSelector("button:enabled");
  };
  await page.goto(pages.url);
  await said("Europe/Lisbon", "Europe/Lisbon: PT");
  await said("Nowhere", "Nowhere: no such zone");
  await page.reload();
  await said("Europe/Lisbon", "Europe/Lisbon: PT");
  await browser.close();
  pages.stop();
  await service.stop();
});

test("a page asks for rows, keeps its key, and works under a strict policy", { skip, timeout: 300_000 }, async () => {
  const service = await serve(people(scratch()));
  const pages = await site(service);
  const browser = await launched();
  const page = await browser.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (said) => said.type() === "error" && faults.push(said.text()));
  await page.goto(pages.url);
  await page.waitForFunction(() => window.ready === true);
  const numbers = Array.from({ length: 20 }, (_, n) => 20 * n + 1);
  const keys = [...numbers.map((n) => `user-${n}`), "nobody"];
  const { rows, bits } = await page.evaluate((keys) => window.run("lookup", keys), keys);
  assert.deepEqual(rows.slice(0, 20).map((row) => row.square), numbers.map((n) => String(n * n)));
  assert.equal(rows[20], null);
  assert.ok(bits >= 128);
  await page.reload();
  await page.waitForFunction(() => window.ready === true);
  const again = await page.evaluate(() => window.run("again", "user-3"));
  assert.deepEqual(again, { square: "9", whole: true, guessed: "WrongPassphrase", left: undefined });
  assert.equal(await page.evaluate(() => window.run("vectors")), "5,-6");
  const worker = await page.evaluate(() => window.run("worker", ["user-8", "nobody"]));
  assert.deepEqual([worker.rows[0].square, worker.rows[1]], ["64", null]);
  assert.deepEqual(worker.stages.slice(0, 3), ["load", "schema", "keys"]);
  assert.deepEqual([worker.stopped, worker.wrong, worker.unsent, worker.freed], ["AbortError", "DTypeError", "DTypeError", "Freed"]);
  assert.deepEqual([worker.late, worker.unopened, worker.facts], ["Freed", "AbortError", [true, true, 64]]);
  assert.equal(await page.evaluate(() => window.run("gone")), "ServiceUnavailable");
  // The browser reports the first HEAD, which finds no keys, as an error of the page.
  assert.deepEqual(faults.filter((fault) => !fault.includes("404")), []);
  await browser.close();
  pages.stop();
  await service.stop();
});
