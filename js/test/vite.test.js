// The package as npm packs it, in an empty Vite project: installed, built, and run in headless Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { test } from "node:test";
import { people, scratch, serve } from "../testing/service.js";

const chromium = process.env.WINDLASS_CHROMIUM ?? "/usr/bin/chromium";
const vite = process.env.WINDLASS_VITE;
const playwright = await import("playwright-core").catch(() => undefined);
const missing = { Chromium: existsSync(chromium), "playwright-core": playwright !== undefined, "Vite (WINDLASS_VITE)": vite !== undefined };
const skip = Object.entries(missing).find(([, there]) => !there)?.[0].concat(" is missing") ?? false;

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const PAGE = '<!doctype html><meta charset="utf-8"><title>empty</title><script type="module" src="/main.js"></script>';
const MAIN = `
import { Client, Context, init, LookupService } from "windlass";
import * as lookup from "windlass/lookup";
import { keptKeys } from "windlass/storage";
import { connectInWorker } from "windlass/worker";

async function run() {
  await init();
  const client = new Client(Context.plan());
  const numbers = client.decrypt(client.encrypt(BigInt64Array.of(5n, -6n))).subarray(0, 2);
  const everything = await LookupService.connect(location.origin);
  await lookup.init();
  const alone = await lookup.LookupService.connect(location.origin);
  const worker = await connectInWorker(location.origin);
  const rows = [];
  for (const service of [everything, alone, worker]) rows.push((await service.records("user-12"))[0].square);
  return { numbers: String(numbers), rows, kept: await keptKeys("none") };
}
window.result = run().catch((error) => ({ failed: String(error.stack) }));
`;

/** The files of a folder, and everything else from the service. */
async function site(folder, service) {
  const server = createServer(async (request, response) => {
    response.setHeader("Content-Security-Policy", POLICY);
    const path = normalize(new URL(request.url, "http://host").pathname);
    const file = join(folder, path === "/" ? "index.html" : path);
    if (existsSync(file)) {
      response.setHeader("Content-Type", TYPES[extname(file)] ?? "text/plain");
      return response.end(readFileSync(file));
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

test("an empty Vite project installs, builds and runs the package", { skip, timeout: 300_000 }, async () => {
  const project = scratch();
  const at = (command, ...given) => execFileSync(command, given, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const root = new URL("..", import.meta.url).pathname;
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], { cwd: root, encoding: "utf8" }));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  writeFileSync(join(project, "index.html"), PAGE);
  writeFileSync(join(project, "main.js"), MAIN);
  mkdirSync(join(project, "node_modules"), { recursive: true });
  at("npm", "install", "--offline", "--no-audit", "--no-fund", join(project, packed.filename));
  const said = at("node", join(vite, "node_modules/vite/bin/vite.js"), "build");
  assert.doesNotMatch(said, /warn/i, said);

  const service = await serve(people(scratch()));
  const pages = await site(join(project, "dist"), service);
  const browser = await playwright.chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "windlass-chromium-")), {
    executablePath: chromium,
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  const page = await browser.newPage();
  await page.goto(pages.url);
  await page.waitForFunction(() => window.result !== undefined);
  const found = await page.evaluate(() => window.result);
  assert.deepEqual(found, { numbers: "5,-6", rows: ["144", "144", "144"], kept: undefined });
  await browser.close();
  pages.stop();
  await service.stop();
});
