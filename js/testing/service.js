// A real service for tests: tables of the command line, behind `windlass serve`.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

process.setMaxListeners(100);

const programs = process.env.WINDLASS_PROGRAMS ?? new URL("../../target/debug", import.meta.url).pathname;

/** A directory that is removed when the process ends. */
export function scratch() {
  const place = mkdtempSync(join(tmpdir(), "windlass-js-"));
  process.on("exit", () => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** What the command line prints. */
export function windlass(...args) {
  return execFileSync(join(programs, "windlass"), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The directory of a table of 500 people by key. */
export function people(place, ...options) {
  const rows = Array.from({ length: 500 }, (_, n) => `user-${n},city ${n % 7},${n * n}`);
  writeFileSync(join(place, "people.csv"), ["id,city,square", ...rows].join("\n") + "\n");
  const dir = join(place, "served");
  windlass("table", "build", "--table", join(place, "people.csv"), "--key", "id", "--out", dir, ...options);
  return dir;
}

/** The bytes of a schema. */
export function schemaOf(dir) {
  return readFileSync(join(dir, "schema.json"));
}

/** Serves a table until `stop`. */
export async function serve(dir, { listen = "127.0.0.1:0", options = [] } = {}) {
  const args = ["--table", dir, "--listen", listen, ...options];
  const child = spawn(join(programs, "windlass-serve"), args, { stdio: ["ignore", "pipe", "pipe"] });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    const listen = (data) => {
      said += data;
      const found = said.match(/listening on (http:\/\/\S+)/);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("exit", () => reject(new Error(`windlass-serve ended: ${said}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      child.on("exit", resolve);
      child.kill();
    });
  process.on("exit", () => child.kill("SIGKILL"));
  return { url, stop };
}
