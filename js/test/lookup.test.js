import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { init, LookupService, TableClient, textOf, WindlassError } from "../lookup.js";
import { people, schemaOf, scratch, serve, windlass } from "../testing/service.js";

const place = scratch();
let dir, service;

before(async () => {
  dir = people(place);
  service = await serve(dir);
  assert.throws(() => new TableClient(schemaOf(dir)), refusal("NotLoaded", /await init\(\)/));
  await init();
});

after(() => service.stop());

/** Whether an error is ours, of this kind and with these words. */
function refusal(code, words = /./) {
  return (error) => {
    assert.ok(error instanceof WindlassError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

test("twenty rows come back, and keys that the table does not have as null", async () => {
  const lookups = await LookupService.connect(service.url);
  assert.ok(lookups.securityBits >= 128);
  const numbers = Array.from({ length: 20 }, (_, n) => 25 * n);
  const found = await lookups.records(numbers.map((n) => `user-${n}`));
  const wanted = numbers.map((n) => ({ id: `user-${n}`, city: `city ${n % 7}`, square: String(n * n) }));
  assert.deepEqual(found, wanted);
  assert.deepEqual(await lookups.ask(["nobody", "user-500"]), [null, null]);
  assert.equal((await lookups.records("user-7"))[0].square, "49");
  assert.equal(lookups.uploads, 1);
  lookups.free();
});

test("the command line answers a query, and JavaScript reads the answer", () => {
  const client = new TableClient(schemaOf(dir));
  assert.deepEqual([client.keyed, client.hidesKeys, client.fields], [true, false, ["id", "city", "square"]]);
  const files = Object.fromEntries(["keys", "query", "answer"].map((name) => [name, join(place, name)]));
  writeFileSync(files.keys, client.evaluationKeys());
  const wanted = ["user-3", "absent"];
  writeFileSync(files.query, client.query(wanted));
  windlass("table", "answer", "--dir", dir, "--evaluation-keys", files.keys, "--in", files.query, "--out", files.answer);
  const answer = readFileSync(files.answer);
  const [row, absent] = client.rows(answer, wanted);
  assert.deepEqual([client.record(row).square, absent], ["9", null]);
  assert.ok(textOf(row).includes("city 3"));

  assert.throws(() => client.rows(answer, ["user-4", "absent"]), refusal("OtherContext", /another query/));
  assert.throws(() => new TableClient(schemaOf(dir)).rows(answer, wanted), refusal("OtherKeyPair"));
  for (const [at, code] of [[0, "FileError"], [answer.length >> 1, "FileError"]]) {
    const damaged = Uint8Array.from(answer);
    damaged[at] ^= 1;
    assert.throws(() => client.rows(damaged, wanted), refusal(code));
  }
  assert.throws(() => client.rows(answer.subarray(0, 100), wanted), refusal("FileError"));
  assert.throws(() => client.rows(new Uint8Array(), wanted), refusal("FileError"));
  client.free();
});

test("a secret key moves between JavaScript and the command line, encrypted or not", () => {
  const client = new TableClient(schemaOf(dir));
  const [keys, query, answer] = ["k", "q", "a"].map((name) => join(place, name));
  writeFileSync(keys, client.evaluationKeys());
  writeFileSync(query, client.query("user-11"));
  windlass("table", "answer", "--dir", dir, "--evaluation-keys", keys, "--in", query, "--out", answer);
  const secret = join(place, "secret.key");
  writeFileSync(secret, client.secret(), { mode: 0o600 });
  const said = windlass(
    ...["table", "decrypt", "--schema", join(dir, "schema.json"), "--secret-key", secret],
    ...["--query", "user-11", "--in", answer],
  );
  assert.match(said, /121/);

  const sealed = client.secret({ passphrase: "two or three words" });
  const again = new TableClient(schemaOf(dir), { secret: sealed, passphrase: "two or three words" });
  assert.equal(again.record(again.rows(readFileSync(answer), "user-11")[0]).square, "121");
  const open = (options) => () => new TableClient(schemaOf(dir), options);
  assert.throws(open({ secret: sealed }), refusal("PassphraseNeeded"));
  assert.throws(open({ secret: sealed, passphrase: "a guess" }), refusal("WrongPassphrase"));
  assert.throws(open({ secret: client.secret(), passphrase: "x" }), refusal("FileError", /not encrypted/));
  assert.throws(open({ secret: new Uint8Array(40) }), refusal("FileError"));
  assert.throws(() => client.secret({ passphrase: "" }), refusal("ParameterError", /passphrase/));
});

test("rows by number", async () => {
  const own = scratch();
  writeFileSync(join(own, "t.csv"), "word\n" + Array.from({ length: 40 }, (_, n) => `word ${n}`).join("\n") + "\n");
  windlass("table", "build", "--table", join(own, "t.csv"), "--out", join(own, "served"));
  const { url, stop } = await serve(join(own, "served"));
  const lookups = await LookupService.connect(url);
  assert.equal(lookups.client.keyed, false);
  const rows = Array.from({ length: 20 }, (_, n) => 39 - 2 * n);
  assert.deepEqual(await lookups.records(rows), rows.map((n) => ({ word: `word ${n}` })));
  assert.deepEqual(await lookups.records(5n), [{ word: "word 5" }]);
  for (const bad of [40, 2 ** 33, -1]) await assert.rejects(lookups.ask(bad), refusal("ParameterError"));
  for (const bad of ["5", 1.5, null]) await assert.rejects(lookups.ask(bad), refusal("DTypeError"));
  lookups.free();
  await stop();
});

test("keys that stay hidden", async () => {
  const own = scratch();
  const hidden = people(own, "--oprf-key", join(own, "oprf.key"));
  const { url, stop } = await serve(hidden, { options: ["--oprf-key", join(own, "oprf.key")] });
  const lookups = await LookupService.connect(url);
  assert.equal(lookups.client.hidesKeys, true);
  for (const portions of [false, true]) {
    const [found, absent] = await lookups.records(["user-6", "nobody"], { portions });
    assert.deepEqual([found.square, absent], ["36", null]);
  }
  assert.throws(() => lookups.client.query("user-6"), refusal("HiddenKeysError"));
  const blinding = lookups.client.blind("user-6");
  assert.throws(() => blinding.finish(new Uint8Array(32)), refusal("FileError"));
  lookups.free();
  await stop();
});

test("portions give the same rows", async () => {
  const lookups = await LookupService.connect(service.url);
  const [found, absent] = await lookups.records(["user-9", "nobody"], { portions: true });
  assert.deepEqual([found.square, absent], ["81", null]);
});

test("a service that changes an answer, is gone, or is none", async () => {
  const damage = async (...request) => {
    const response = await fetch(...request);
    if (!String(request[0]).includes("/ask")) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    bytes[bytes.length - 50] ^= 4;
    return new Response(bytes, { status: response.status });
  };
  const damaged = await LookupService.connect(service.url, { fetch: damage });
  await assert.rejects(damaged.ask("user-1"), refusal("FileError"));

  const long = async (...request) => {
    const response = await fetch(...request);
    return String(request[0]).includes("/ask") ? new Response(new Uint8Array(1 << 24)) : response;
  };
  const longer = await LookupService.connect(service.url, { fetch: long });
  await assert.rejects(longer.ask("user-1"), refusal("ServiceError", /sends more than/));

  const gone = await serve(dir);
  const lookups = await LookupService.connect(gone.url, { retries: 0 });
  await gone.stop();
  await assert.rejects(lookups.ask("user-1"), refusal("ServiceUnavailable", /cannot be reached/));
  await assert.rejects(LookupService.connect(gone.url, { retries: 0 }), refusal("ServiceUnavailable"));
  await assert.rejects(LookupService.connect("ftp://host"), refusal("ParameterError"));
  await assert.rejects(LookupService.connect(`${service.url}/nothing`, { retries: 0 }), refusal("ServiceError", /404/));
  const signal = AbortSignal.abort();
  const own = await LookupService.connect(service.url);
  await assert.rejects(own.ask("user-1", { signal }), { name: "AbortError" });
  assert.equal((await own.records("user-1"))[0].square, "1", "it works after a stop");
});

test("tokens go to this machine, or over https", async () => {
  const options = { token: "abc", retries: 0 };
  await assert.rejects(LookupService.connect("http://192.0.2.1", options), refusal("ParameterError", /unencrypted/));
  const sent = [];
  const spy = (url, request) => {
    sent.push(request.headers.Authorization);
    return fetch(url, request);
  };
  await LookupService.connect(service.url, { ...options, fetch: spy });
  assert.deepEqual(sent, ["Bearer abc"]);
});

test("a replaced table is refused, and refresh takes it up", async () => {
  const own = scratch();
  const first = people(own);
  const { url, stop } = await serve(first);
  const lookups = await LookupService.connect(url);
  const known = lookups.client.schemaHash;
  assert.equal(await lookups.refresh(), false);
  await stop();
  const next = people(scratch());
  const replaced = await serve(next, { listen: url.replace("http://", "") });
  await assert.rejects(lookups.ask("user-2"), refusal("TableReplaced"));
  await assert.rejects(LookupService.connect(url, { schemaHash: known }), refusal("TableReplaced", /ask its owner/));
  assert.equal(await lookups.refresh(), true);
  assert.equal((await lookups.records("user-2"))[0].square, "4");
  await replaced.stop();
});

test("kept keys are used again: none are made or uploaded", async () => {
  const first = await LookupService.connect(service.url);
  await first.ask("user-1");
  const passphrase = "two or three words";
  const kept = first.keys({ passphrase });
  first.free();
  const stages = [];
  const again = await LookupService.connect(service.url, { kept, passphrase, onProgress: (stage) => stages.push(stage) });
  assert.equal((await again.records("user-8"))[0].square, "64");
  assert.deepEqual([again.uploads, stages], [0, ["schema", "ask"]]);
  assert.deepEqual(Buffer.compare(again.keys().evaluationKeys, kept.evaluationKeys), 0);

  const connect = (given, options = { passphrase }) => LookupService.connect(service.url, { kept: given, ...options });
  await assert.rejects(connect(kept, {}), refusal("PassphraseNeeded"));
  await assert.rejects(connect({ ...kept, schemaHash: "0".repeat(64) }), refusal("TableReplaced", /connect without them/));
  for (const part of ["secret", "evaluationKeys"]) {
    const damaged = Uint8Array.from(kept[part]);
    damaged[damaged.length >> 1] ^= 1;
    await assert.rejects(connect({ ...kept, [part]: damaged }), (error) => ["FileError", "WrongPassphrase"].includes(error.code), part);
    await assert.rejects(connect({ ...kept, [part]: undefined }), refusal("DTypeError", /kept/));
  }
  const other = await LookupService.connect(service.url);
  const mixed = { ...kept, evaluationKeys: other.keys().evaluationKeys };
  await assert.rejects(connect(mixed), refusal("OtherKeyPair"));
  await assert.rejects(connect({ ...kept, evaluationKeys: kept.secret }), refusal("FileError"));
  await assert.rejects(connect(kept, { passphrase, secret: kept.secret }), refusal("ParameterError", /kept or secret/));
  [again, other].forEach((one) => one.free());
});

test("hostile schemas are refused before keys are made", () => {
  const good = JSON.parse(schemaOf(dir));
  const with_ = (change) => {
    const schema = structuredClone(good);
    change(schema);
    return () => new TableClient(JSON.stringify(schema));
  };
  const begun = performance.now();
  assert.throws(() => new TableClient("{"), refusal("FileError"));
  assert.throws(() => new TableClient(new Uint8Array([255, 254])), refusal("FileError"));
  assert.throws(with_((s) => (s.version = 9)), refusal("FileError"));
  assert.throws(with_((s) => (s.shape.moduli = "tiny")), refusal("FileError"));
  assert.throws(with_((s) => (s.shape.rows = 2 ** 40)));
  for (const field of ["rows", "columns", "record_coefficients", "records", "selections", "message_bits"]) {
    for (const value of [0, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e30, "9", null]) {
      assert.throws(with_((s) => (s.shape[field] = value)), (e) => ["FileError", "ParameterError"].includes(e.code), `${field} ${value}`);
    }
  }
  const [kind] = Object.keys(good.contents);
  for (const field of Object.keys(good.contents[kind])) {
    for (const value of [-1, 2 ** 32, 2 ** 53, 1e30, {}]) {
      assert.throws(with_((s) => (s.contents[kind][field] = value)), (e) => ["FileError", "ParameterError"].includes(e.code), `${field} ${value}`);
    }
  }
  assert.ok(performance.now() - begun < 60_000);
});

test("memory comes back when clients are freed", () => {
  const schema = schemaOf(dir);
  const round = () => {
    const client = new TableClient(schema);
    client.query(["user-1", "user-2"]);
    client.free();
  };
  for (let turn = 0; turn < 5; turn += 1) round();
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external;
  for (let turn = 0; turn < 30; turn += 1) round();
  globalThis.gc?.();
  const grown = process.memoryUsage().arrayBuffers + process.memoryUsage().external - before;
  assert.ok(grown < 20 << 20, `${grown} bytes more`);
});
