// The client's side of the protocol, at a service that misbehaves in ways that a test chooses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { init, LookupService, WindlassError } from "../lookup.js";
import { people, schemaOf, scratch, serve } from "../testing/service.js";

const place = scratch();
let service, lookups, other;
/** What stands for `fetch` in the test at hand. */
let answers = fetch;

before(async () => {
  await init();
  service = await serve(people(place));
  lookups = await LookupService.connect(service.url, { fetch: (...request) => answers(...request), retries: 0 });
  other = schemaOf(people(scratch()));
});

after(() => {
  lookups.free();
  return service.stop();
});

function refusal(code, words = /./) {
  return (error) => error instanceof WindlassError && error.code === code && words.test(error.message);
}

/** Answers requests of one path by `change`, and hands the others to the service. */
async function with_(part, change, work) {
  answers = (url, request) => (String(url).includes(part) ? change(url, request) : fetch(url, request));
  try {
    return await work();
  } finally {
    answers = fetch;
  }
}

test("a service that sends too much is refused, in portions too", async () => {
  const long = () => new Response(new Uint8Array(1 << 24));
  for (const portions of [false, true]) {
    await with_("/ask", long, () => assert.rejects(lookups.ask("user-1", { portions }), refusal("ServiceError", /sends more than/)));
  }
});

test("a pin is a whole hash", async () => {
  const hash = lookups.client.schemaHash;
  let asked = 0;
  const count = (...request) => {
    asked += 1;
    return fetch(...request);
  };
  for (const schemaHash of [hash.slice(0, 8), "", `${hash}0`, hash.replace(/./, "g"), 7, null, [hash]]) {
    await assert.rejects(LookupService.connect(service.url, { schemaHash, fetch: count }), refusal("ParameterError", /64 hexadecimal/));
    await assert.rejects(lookups.refresh({ schemaHash }), refusal("ParameterError", /64 hexadecimal/));
  }
  assert.equal(asked, 0);
  await assert.rejects(LookupService.connect(service.url, { schemaHash: "0".repeat(64) }), refusal("TableReplaced"));
});

test("refresh takes another schema only with its hash, if one was pinned", async () => {
  const hash = lookups.client.schemaHash;
  let schema = null;
  const change = (url, request) => (schema !== null && String(url).endsWith("/schema") ? new Response(schema) : fetch(url, request));
  const pinned = await LookupService.connect(service.url, { schemaHash: hash.toUpperCase(), fetch: change });
  assert.equal(await pinned.refresh(), false);
  schema = other;
  await assert.rejects(pinned.refresh(), refusal("TableReplaced", /ask its owner/));
  assert.equal(pinned.client.schemaHash, hash, "the client is the same as before");
  const refused = await pinned.refresh().catch((error) => error);
  const [, schemaHash] = /the schema ([0-9a-f]{64})/.exec(refused.message);
  assert.equal(await pinned.refresh({ schemaHash }), true);
  assert.equal(pinned.client.schemaHash, schemaHash);
  schema = null;
  await assert.rejects(pinned.refresh(), refusal("TableReplaced"), "the pin moved too");
  pinned.free();
});

test("a signal stops its own ask and no other, and one upload serves all", async () => {
  const fresh = await LookupService.connect(service.url, { fetch: (...request) => answers(...request), retries: 0 });
  const stop = new AbortController();
  let go;
  const gate = new Promise((resolve) => (go = resolve));
  const slow = async (...request) => {
    await gate;
    return fetch(...request);
  };
  await with_("/keys/", slow, async () => {
    const first = fresh.records("user-2", { signal: stop.signal });
    const second = fresh.records("user-3");
    stop.abort();
    await assert.rejects(first, { name: "AbortError" });
    go();
    assert.equal((await second)[0].square, "9");
  });
  assert.equal(fresh.uploads, 1);
  // Keys that had to make room are uploaded again, once for all asks that miss them.
  let lost = 2;
  const lose = (...request) => {
    lost -= 1;
    return lost >= 0 ? Response.json({ type: "urn:windlass:problem#unknown-keys" }, { status: 404 }) : fetch(...request);
  };
  fresh.free();
  const again = await LookupService.connect(service.url, { fetch: (...request) => answers(...request) });
  await again.ask("user-1");
  const rows = await with_("/ask", lose, () => Promise.all(["user-4", "user-5"].map((key) => again.records(key))));
  assert.deepEqual(rows.map(([row]) => row.square), ["16", "25"]);
  assert.equal(again.uploads, 2);

  // What is freed ends its asks first, and refuses further ones.
  const { client } = again;
  const last = again.records("user-6");
  again.free();
  again.free();
  assert.equal((await last)[0].square, "36");
  assert.throws(() => client.schemaHash, refusal("Freed"));
  assert.throws(() => again.client, refusal("Freed"));
  await assert.rejects(again.ask("user-1"), refusal("Freed"));
  await assert.rejects(again.refresh(), refusal("Freed"));
});

test("an ask under way reads with the keys of its query, though a refresh replaces them", async () => {
  const fresh = await LookupService.connect(service.url, { fetch: (...request) => answers(...request) });
  const { client } = fresh;
  const own = await LookupService.connect(service.url);
  await with_("/ask", async (...request) => {
    const response = await fetch(...request);
    if (client === fresh.client) assert.equal(await fresh.refresh({ secret: own.secret() }), false);
    return response;
  }, async () => assert.equal((await fresh.records("user-7"))[0].square, "49"));
  assert.throws(() => client.schemaHash, refusal("Freed"));
  assert.equal((await fresh.records("user-8"))[0].square, "64");
  fresh.free();
  own.free();
});

test("keys come from any iterable, once", async () => {
  const keys = function* () {
    yield "user-2";
    yield "nobody";
  };
  for (const portions of [false, true]) {
    const [row, absent] = await lookups.records(keys(), { portions });
    assert.deepEqual([row.square, absent], ["4", null]);
  }
  assert.throws(() => lookups.client.record(7), refusal("DTypeError"));
  assert.throws(() => lookups.client.record("abc"), WindlassError);
});

test("connect can be stopped, and checks its options", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(LookupService.connect(service.url, { signal }), { name: "AbortError" });
  for (const wrong of [{ retries: -1 }, { retries: 1.5 }, { retries: Infinity }, { retries: "2" }, { timeout: 0 }, { timeout: -5 }, { timeout: NaN }, { timeout: 2 ** 40 }]) {
    await assert.rejects(LookupService.connect(service.url, wrong), refusal("ParameterError"), JSON.stringify(wrong));
  }
});

test("what a service says cannot change lines or directions, and a reason is always named", async () => {
  const problem = { type: "#bad", title: "a\u202eb\u2028c\u001bd\u200ee" };
  const refuse = () => Response.json(problem, { status: 400 });
  await with_("/ask", refuse, () => assert.rejects(lookups.ask("user-1"), refusal("ServiceError", /a b c d e/)));
  const broken = new TypeError("fetch failed", { cause: new Error("the certificate is too old") });
  const fail = () => Promise.reject(broken);
  await with_("/ask", fail, () =>
    assert.rejects(lookups.ask("user-1"), (error) => refusal("ServiceUnavailable", /too old/)(error) && error.cause === broken),
  );
});
