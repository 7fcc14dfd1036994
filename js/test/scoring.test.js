// Scores of models: rows that JavaScript encrypts, scores of the command line, and those in the clear.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { init, ScoringClient, WindlassError } from "../index.js";
import { scratch, windlass } from "../testing/service.js";

const place = scratch();
const at = (name) => join(place, name);
const model = {
  weights: [[0.5, -1, 0.25], [-2, 1, 0], [0.125, 0.5, -1]],
  bias: [0.125, -1, 0.5],
  means: [1, 0, -2],
  scales: [2, 1, 0.5],
  classes: ["red", "green", "blue"],
  features: ["a", "b", "c"],
};
const rows = Array.from({ length: 20 }, (_, n) => [Math.sin(n) * 3, Math.cos(n), Math.sin(2 * n) - 2]);

/** The scores in the clear. */
function clear(row, { weights, bias, means, scales } = model) {
  return weights.map((own, k) => own.reduce((sum, w, j) => sum + (w * (row[j] - means[j])) / scales[j], bias[k]));
}

before(async () => {
  await init();
  writeFileSync(at("model.json"), JSON.stringify(model));
  windlass("score", "schema", "--weights", at("model.json"), "--out", at("schema.json"));
});

function refusal(code, words = /./) {
  return (error) => {
    assert.ok(error instanceof WindlassError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

const schema = () => readFileSync(at("schema.json"));

/** The file of scores that the command line makes of encrypted rows. */
function scored(client, encrypted, [weights, schema] = ["model.json", "schema.json"]) {
  const files = Object.fromEntries(["keys", "rows", "scores"].map((name) => [name, at(`${name}-${Math.random()}`)]));
  writeFileSync(files.keys, client.evaluationKeys());
  writeFileSync(files.rows, encrypted);
  windlass(
    ...["score", "apply", "--weights", at(weights), "--schema", at(schema)],
    ...["--evaluation-keys", files.keys, "--in", files.rows, "--out", files.scores],
  );
  return [readFileSync(files.scores), files.scores];
}

function check(found, wanted = rows.map((row) => clear(row))) {
  assert.equal(found.length, wanted.length);
  for (const [n, { scores, decision, class: name, close, errorBound }] of found.entries()) {
    assert.ok(errorBound > 0 && errorBound < 1e-2, `${errorBound}`);
    scores.forEach((score, k) => assert.ok(Math.abs(score - wanted[n][k]) <= errorBound, `${score} ${wanted[n][k]}`));
    const best = wanted[n].indexOf(Math.max(...wanted[n]));
    if (!close) assert.deepEqual([decision, name], [best, model.classes[best]]);
  }
}

test("scores and decisions are those in the clear, and the command line reads the same", () => {
  const client = new ScoringClient(schema());
  assert.deepEqual([client.features, client.columns], [3, ["a", "b", "c"]]);
  assert.ok(client.securityBits >= 128);
  const [answer, file] = scored(client, client.encrypt(rows));
  const found = client.scores(answer);
  check(found);
  assert.ok(new Set(found.map((one) => one.class)).size > 1, "the rows are of several classes");
  writeFileSync(at("secret.key"), client.secret(), { mode: 0o600 });
  const said = JSON.parse(
    windlass("score", "decrypt", "--json", "--schema", at("schema.json"), "--secret-key", at("secret.key"), "--in", file),
  );
  // The same, up to the rounding of transforms.
  said.scores.forEach((scores, n) =>
    scores.forEach((score, k) => assert.ok(Math.abs(score - found[n].scores[k]) < 1e-3 * said.error_bound)),
  );
  assert.deepEqual(said.decisions, found.map((one) => one.class));
  assert.deepEqual([said.close, said.error_bound], [found.map((one) => one.close), found[0].errorBound]);
  client.free();
});

test("rows come in several forms, under a kept key too", () => {
  const first = new ScoringClient(schema());
  const sealed = first.secret({ passphrase: "two or three words" });
  const client = new ScoringClient(schema(), { secret: sealed, passphrase: "two or three words" });
  const forms = [
    Float64Array.from(rows.flat()),
    rows.map((row) => Float64Array.from(row)),
    rows.map(([a, b, c]) => ({ c, b, a })),
  ];
  for (const form of forms) check(client.scores(scored(first, client.encrypt(form))[0]));
  check(client.scores(scored(client, client.encrypt(rows[4]))[0]), [clear(rows[4])]);
  assert.throws(() => new ScoringClient(schema(), { secret: sealed }), refusal("PassphraseNeeded"));
  assert.throws(() => new ScoringClient(schema(), { secret: sealed, passphrase: "a guess" }), refusal("WrongPassphrase"));
});

test("one score decides by its sign, and classes without names have numbers", () => {
  const plain = { weights: [1, -1], bias: 0 };
  writeFileSync(at("plain.json"), JSON.stringify(plain));
  windlass("score", "schema", "--weights", at("plain.json"), "--out", at("plain-schema.json"));
  const client = new ScoringClient(readFileSync(at("plain-schema.json")));
  assert.deepEqual(client.columns, []);
  const [answer] = scored(client, client.encrypt([[2, 1], [1, 2], [1, 1]]), ["plain.json", "plain-schema.json"]);
  const found = client.scores(answer);
  assert.deepEqual(found.slice(0, 2).map((one) => [one.class, one.close]), [["1", false], ["0", false]]);
  assert.equal(found[2].close, true, "a score of zero is within its error");
  const other = new ScoringClient(schema());
  assert.throws(() => other.scores(answer), (error) => ["OtherContext", "OtherKeyPair"].includes(error.code));
  assert.throws(() => client.encrypt([{ a: 1, b: 2 }]), refusal("DTypeError", /no names/));
});

test("what is wrong is refused in words", () => {
  const client = new ScoringClient(schema());
  assert.throws(() => client.encrypt([[1, 2]]), refusal("ShapeError"));
  assert.throws(() => client.encrypt([]), refusal("ShapeError"));
  assert.throws(() => client.encrypt([{ a: 1, b: 2 }]), refusal("ShapeError", /no column "c"/));
  assert.throws(() => client.encrypt([[1, 2, NaN]]), refusal("ValueRangeError"));
  assert.throws(() => client.encrypt([[1, 2, 1e6]]), refusal("ValueRangeError"));
  for (const bad of ["1", null, 5, [["1", 2, 3]]]) assert.throws(() => client.encrypt(bad), refusal("DTypeError"));
  const [answer] = scored(client, client.encrypt(rows));
  assert.throws(() => new ScoringClient(schema()).scores(answer), refusal("OtherKeyPair"));
  const damaged = Uint8Array.from(answer);
  damaged[answer.length >> 1] ^= 1;
  assert.throws(() => client.scores(damaged), refusal("FileError"));
  assert.throws(() => client.scores(new Uint8Array()), refusal("FileError"));
  const renamed = JSON.parse(schema());
  renamed.columns = ["x", "y", "z"];
  const other = new ScoringClient(JSON.stringify(renamed), { secret: client.secret() });
  assert.throws(() => other.scores(answer), refusal("OtherContext", /schema/));
});

test("hostile schemas are refused before keys are made", () => {
  const good = JSON.parse(schema());
  const with_ = (change, options) => {
    const own = structuredClone(good);
    change(own);
    return () => new ScoringClient(JSON.stringify(own), options);
  };
  const begun = performance.now();
  const weak = (s) => Object.assign(s.parameters, { n: 2048, assurance: "insecure", name: "insecure_x" });
  assert.throws(with_(weak), refusal("InsecureParameters", /insecure: true/));
  assert.throws(with_((s) => (s.parameters.n = 2048)), refusal("InsecureParameters"));
  assert.ok(with_(weak, { insecure: true })().securityBits < 128);
  for (const text of ["", "{}", "[".repeat(100_000)]) assert.throws(() => new ScoringClient(text), refusal("FileError"));
  assert.throws(with_((s) => (s.version = 9)), refusal("FileError"));
  const refused = (error) => error instanceof WindlassError && !["Stopped", "WindlassError"].includes(error.code);
  const bare = (s, field, value) => {
    for (const name of ["columns", "classes", "means", "scales"]) delete s[name];
    s[field] = value;
  };
  for (const field of ["features", "scores", "unit", "bound"]) {
    for (const value of [0, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 53, 1e300, "9", null]) {
      if (field === "unit" && value === 2 ** 31) continue;
      if (field === "unit" && value === 2 ** 53) continue;
      const one = performance.now();
      assert.throws(with_((s) => bare(s, field, value)), refused, `${field} ${value}`);
      assert.ok(performance.now() - one < 20_000, `${field} ${value}`);
    }
  }
  for (const [field, value] of [["n", 2 ** 31], ["n", 2 ** 53], ["depth", 2 ** 31], ["scale_bits", 2 ** 31], ["digits", 0], ["base_prime_bits", Array(10_000).fill(50)]]) {
    assert.throws(with_((s) => (s.parameters[field] = value)), refused, `${field} ${value}`.slice(0, 60));
  }
  assert.ok(performance.now() - begun < 120_000);
});
