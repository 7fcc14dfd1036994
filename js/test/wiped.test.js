// What lies in the memory of the compiled part, or of a worker, after a call: no secret that was given.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import * as all from "../pkg/all/windlass_wasm.js";
import * as lookup from "../pkg/lookup/windlass_wasm.js";
import { people, schemaOf, scratch } from "../testing/service.js";

const place = scratch();
const utf8 = new TextEncoder();
let schema, hidden, memories;

before(async () => {
  const load = async (module, name) => {
    const code = readFileSync(new URL(`../pkg/${name}/windlass_wasm_bg.wasm`, import.meta.url));
    return (await module.default({ module_or_path: code })).memory;
  };
  memories = { lookup: await load(lookup, "lookup"), all: await load(all, "all") };
  schema = schemaOf(people(place));
  hidden = schemaOf(people(scratch(), "--oprf-key", join(place, "oprf.key")));
});

/** Bytes whose end a freed block would still show: an allocator writes only into its beginning. */
function marked(word) {
  return utf8.encode(`${word}, `.repeat(40) + `the end of ${word}`);
}

function remains(memory, bytes) {
  return Buffer.from(memory.buffer).includes(bytes.subarray(-24));
}

test("a refused schema leaves neither the secret nor the passphrase", () => {
  const [file, words] = [marked("a secret"), marked("a passphrase")];
  assert.throws(() => new lookup.TableClient(utf8.encode("{"), file, words), /schema/);
  assert.throws(() => new lookup.TableClient(schema, undefined, words) && assert.fail("made"), /made/);
  assert.throws(() => new lookup.TableClient(schema, file, undefined), /Windlass file/);
  for (const given of [file, words]) assert.equal(remains(memories.lookup, given), false);
});

test("a client of vectors that is refused leaves neither the secret nor the passphrase", () => {
  const context = all.Context.plan(65537n, 1, 1, false);
  const [file, words] = [marked("another secret"), marked("another passphrase")];
  assert.throws(() => new all.Client(context, file, words), /not encrypted/);
  assert.ok(new all.Client(context, undefined, words));
  for (const given of [file, words]) assert.equal(remains(memories.all, given), false);
});

test("keys that a server hides leave nothing", () => {
  const client = new lookup.TableClient(hidden);
  const key = marked("a hidden key");
  const blinding = client.blind([key]);
  assert.equal(remains(memories.lookup, key), true, "the search finds what is there");
  blinding.free();
  assert.equal(remains(memories.lookup, key), false);
});

test("a file may not ask for more memory than a page has", () => {
  const client = new lookup.TableClient(schema);
  const words = () => utf8.encode("two or three words");
  const sealed = Buffer.from(client.secret(words()));
  // The cost is 64 MiB three times: the memory stands before the passes and the lanes.
  const cost = sealed.indexOf(Buffer.from([0, 0, 1, 0, 3, 0, 0, 0, 4, 0, 0, 0]));
  assert.ok(cost > 0);
  for (const [kib, refused] of [[1 << 20, true], [(1 << 18) + 1, true], [1 << 18, false]]) {
    const asking = Buffer.from(sealed.subarray(0, -32));
    asking.writeUInt32LE(kib, cost);
    asking.writeUInt32LE(refused ? 1 : 5, cost + 4);
    const file = Buffer.concat([asking, createHash("sha256").update(asking).digest()]);
    // 256 MiB five times are refused as well, as too much work.
    assert.throws(() => new lookup.TableClient(schema, file, words()), (error) => {
      assert.equal(error.code, "FileError");
      assert.match(error.message, new RegExp(`${kib} KiB of memory.*at most 256 MiB of memory, 1 GiB over all passes`));
      return true;
    });
  }
});

test("a worker keeps no copy of a secret or a passphrase", async () => {
  const [real, sent] = [globalThis.fetch, []];
  let hear;
  globalThis.addEventListener = (_, listener) => (hear = listener);
  globalThis.postMessage = (message, moved = []) => sent.push([structuredClone(message, { transfer: moved }), message]);
  globalThis.fetch = async () => new Response(schema);
  const call = async (method, ...given) => {
    await hear({ data: { id: method, method, given } });
    return sent.at(-1);
  };
  try {
    await import("../worker-thread.js");
    await call("connect", "http://127.0.0.1:1", {});
    const words = utf8.encode("two or three words");
    const [{ value: file }, left] = await call("secret", { passphrase: words });
    assert.ok(file.length > 1000, "the page has the file");
    assert.equal(left.value.length, 0, "the worker has it no more");
    assert.ok(words.every((byte) => byte === 0));
    const [{ value: all }, rest] = await call("keys", { passphrase: utf8.encode("two or three words") });
    assert.ok(all.secret.length > 1000 && all.evaluationKeys.length > 10_000 && all.schemaHash.length === 64);
    assert.equal(rest.value.secret.length, 0, "the worker has the kept secret no more");

    const wide = new Uint8Array(file.length + 20).fill(7);
    wide.set(file, 10);
    const shared = new Uint8Array(new SharedArrayBuffer(4)).fill(7);
    for (const [method, ...before] of [["connect", "http://127.0.0.1:1"], ["refresh"]]) {
      const given = { secret: wide.slice().subarray(10, -10), passphrase: shared };
      const [{ error }] = await call(method, ...before, given);
      assert.equal(error.code, "WrongPassphrase");
      assert.ok(new Uint8Array(given.secret.buffer).every((byte) => byte === 0), method);
    }
    const kept = { secret: file.slice(), evaluationKeys: all.evaluationKeys, schemaHash: all.schemaHash };
    const [{ error: refused }] = await call("connect", "http://127.0.0.1:1", { kept, passphrase: shared });
    assert.equal(refused.code, "WrongPassphrase");
    assert.ok(kept.secret.every((byte) => byte === 0), "kept");
    assert.ok(shared.every((byte) => byte === 7), "memory of the page is left to the page");
  } finally {
    globalThis.fetch = real;
    for (const name of ["addEventListener", "postMessage"]) delete globalThis[name];
  }
});
