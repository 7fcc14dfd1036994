// Declarations (`.d.ts`) and modules export the same names, and classes have the same members.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("..", import.meta.url);

/** What a file of declarations says that its module exports, with the members of classes. */
function declared(name) {
  const text = readFileSync(new URL(`${name}.d.ts`, folder), "utf8");
  const found = {};
  for (const [, other] of text.matchAll(/^export \* from "\.\/(\w+)\.js"/gm)) Object.assign(found, declared(other));
  for (const [, one] of text.matchAll(/^export function (\w+)/gm)) found[one] = [];
  for (const [, one, body] of text.matchAll(/^export class (\w+)[^{]*\{\n([\s\S]*?)^\}/gm)) {
    const members = [...body.matchAll(/^ {2}(?:readonly )?((?:static )?\w+)[(:?]/gm)].map((match) => match[1]);
    found[one] = [...new Set(members)].filter((member) => !["constructor", "private"].includes(member));
  }
  return found;
}

for (const name of ["lookup", "index", "storage", "worker"]) {
  test(`the declarations of ${name}.js name what it exports`, async () => {
    const module = await import(new URL(`${name}.js`, folder));
    const said = declared(name);
    assert.deepEqual(Object.keys(module).sort(), Object.keys(said).sort());
    for (const [one, members] of Object.entries(said)) {
      if (one === "WindlassError") continue; // its members are set by its constructor
      for (const member of members) {
        const place = member.startsWith("static ") ? module[one] : module[one].prototype;
        assert.ok(member.replace("static ", "") in place, `${one}.${member}`);
      }
    }
  });
}
