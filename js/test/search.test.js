// Nearest neighbours: queries of JavaScript, answers of the command line, scores in the clear.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { init, SearchClient, WindlassError } from "../index.js";
import { scratch, windlass } from "../testing/service.js";

const place = scratch();
const at = (name) => join(place, name);
// Points on a circle, half a radian apart.
const points = Array.from({ length: 12 }, (_, k) => [Math.cos(k / 2), Math.sin(k / 2)]);
const asked = [[0.0508, 0.9987], [-1, 0.5]];

before(async () => {
  await init();
  writeFileSync(at("table.csv"), ["x,y", ...points.map((point) => point.join(","))].join("\n") + "\n");
});

function refusal(code, words = /./) {
  return (error) => {
    assert.ok(error instanceof WindlassError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

/** The schema of the table under a metric. */
function schemaOf(metric) {
  windlass("search", "schema", "--table", at("table.csv"), "--metric", metric, "--out", at(`${metric}.json`));
  return readFileSync(at(`${metric}.json`));
}

/** What the command line answers to a query. */
function answered(metric, client, query) {
  const files = Object.fromEntries(["keys", "query", "answer"].map((name) => [name, at(`${metric}-${name}-${Math.random()}`)]));
  writeFileSync(files.keys, client.evaluationKeys());
  writeFileSync(files.query, query);
  windlass(
    ...["search", "answer", "--table", at("table.csv"), "--schema", at(`${metric}.json`)],
    ...["--evaluation-keys", files.keys, "--in", files.query, "--out", files.answer],
  );
  return [readFileSync(files.answer), files];
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const METRICS = {
  cosine: (x, q) => dot(x, q) / Math.sqrt(dot(x, x) * dot(q, q)),
  "inner-product": dot,
  euclidean: (x, q) => (x[0] - q[0]) ** 2 + (x[1] - q[1]) ** 2,
};

test("the nearest vectors are those in the clear, under each metric", () => {
  for (const [metric, score] of Object.entries(METRICS)) {
    const client = new SearchClient(schemaOf(metric));
    assert.deepEqual([client.vectors, client.dimension, client.metric, client.columns], [12, 2, metric, ["x", "y"]]);
    assert.ok(client.securityBits >= 128);
    const [answer, files] = answered(metric, client, client.query(asked));
    const found = client.nearest(answer, asked, 3);
    assert.equal(found.length, 2);
    found.forEach((list, number) => {
      const sign = metric === "euclidean" ? 1 : -1;
      const clear = points.map((point, index) => ({ index, score: score(point, asked[number]) }));
      clear.sort((a, b) => sign * (a.score - b.score));
      assert.deepEqual(list.map((one) => one.index), clear.slice(0, 3).map((one) => one.index), metric);
      for (const [rank, one] of list.entries()) {
        assert.ok(Math.abs(one.score - clear[rank].score) <= one.errorBound + 1e-12, `${metric} ${one.score} ${clear[rank].score}`);
        assert.ok(one.errorBound < 0.2);
      }
    });
    // The command line reads the same from the same files.
    writeFileSync(at(`${metric}.secret`), client.secret(), { mode: 0o600 });
    writeFileSync(at("query.csv"), ["x,y", ...asked.map((vector) => vector.join(","))].join("\n") + "\n");
    const said = windlass(
      ...["search", "decrypt", "--json", "--schema", at(`${metric}.json`), "--secret-key", at(`${metric}.secret`)],
      ...["--query", at("query.csv"), "--in", files.answer, "--k", "3"],
    );
    const theirs = JSON.parse(said).nearest;
    const ours = found.map((list) => list.map(({ index, score, errorBound }) => ({ index, score, error_bound: errorBound })));
    assert.deepEqual(ours, theirs);
    client.free();
  }
});

test("vectors come in several forms, and more than there are is all of them", () => {
  const client = new SearchClient(cosine());
  const forms = [[0.6, 0.8], Float64Array.of(0.6, 0.8), Float32Array.of(0.6, 0.8), { y: 0.8, x: 0.6 }, [[0.6, 0.8]]];
  for (const form of forms) {
    const [answer] = answered("cosine", client, client.query(form));
    const [list] = client.nearest(answer, form, 100);
    assert.equal(list.length, 12);
    assert.equal(list[0].index, 2);
  }
  const integers = Int8Array.of(3, 4, -3, 4);
  const [answer] = answered("cosine", client, client.query(integers));
  assert.deepEqual(client.nearest(answer, integers, 1).map(([one]) => one.index), [2, 4]);
});

test("what is wrong is refused in words", () => {
  const client = new SearchClient(cosine());
  const [answer] = answered("cosine", client, client.query(asked));
  assert.throws(() => client.nearest(answer, asked[0]), refusal("OtherContext", /another query/));
  assert.throws(() => new SearchClient(cosine()).nearest(answer, asked), refusal("OtherKeyPair"));
  assert.throws(() => client.nearest(answer.subarray(0, 100), asked), refusal("FileError"));
  const damaged = Uint8Array.from(answer);
  damaged[answer.length >> 1] ^= 1;
  assert.throws(() => client.nearest(damaged, asked), refusal("FileError"));
  for (const k of [0, -1, 1.5, "3", 2 ** 32]) assert.throws(() => client.nearest(answer, asked, k), refusal("ParameterError", /^k is/));
  assert.throws(() => client.query([1, 2, 3]), refusal("ShapeError"));
  assert.throws(() => client.query(Float64Array.of()), refusal("ShapeError"));
  assert.throws(() => client.query([]), refusal("ShapeError"));
  assert.throws(() => client.query({ x: 1 }), refusal("ShapeError", /no column "y"/));
  assert.throws(() => client.query([0, 0]), refusal("ValueRangeError"));
  assert.throws(() => client.query([NaN, 0]), refusal("ValueRangeError"));
  for (const bad of ["1, 2", 5, null, ["1", "2"], [[1, "2"]]]) assert.throws(() => client.query(bad), refusal("DTypeError"));
  const sealed = client.secret({ passphrase: "two or three words" });
  const again = new SearchClient(cosine(), { secret: sealed, passphrase: "two or three words" });
  assert.equal(again.nearest(answer, asked, 1).length, 2);
  assert.throws(() => new SearchClient(cosine(), { secret: sealed }), refusal("PassphraseNeeded"));
  client.free();
  assert.throws(() => client.query(asked), refusal("Freed"));
});

/** The schema under the cosine, which is there already. */
function cosine() {
  return readFileSync(at("cosine.json"));
}

test("hostile schemas are refused before keys are made", () => {
  const good = JSON.parse(cosine());
  const with_ = (change) => {
    const schema = structuredClone(good);
    change(schema);
    return () => new SearchClient(JSON.stringify(schema));
  };
  const begun = performance.now();
  assert.throws(() => new SearchClient("{"), refusal("FileError"));
  assert.throws(with_((s) => (s.version = 9)), refusal("FileError"));
  assert.throws(with_((s) => (s.shape.moduli = "tiny")), refusal("FileError"));
  const refused = (error) => ["FileError", "ParameterError", "OutOfMemory"].includes(error.code);
  for (const field of ["vectors", "dimension", "bits", "row_sum", "message_bits"]) {
    for (const value of [-1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e30, "9", null]) {
      assert.throws(with_((s) => (s.shape[field] = value)), refused, `${field} ${value}`);
    }
  }
  for (const field of ["group", "rows", "ciphertexts"]) {
    for (const value of [0, -1, 2 ** 13, 2 ** 31, 2 ** 32, 1e30]) {
      assert.throws(with_((s) => (s.shape.layout[field] = value)), refused, `${field} ${value}`);
    }
  }
  assert.throws(with_((s) => (s.shape.vectors = 2 ** 31)), refusal("OutOfMemory", /search in this table/));
  assert.ok(performance.now() - begun < 60_000);
});
