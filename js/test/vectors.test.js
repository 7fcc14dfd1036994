import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Client, Context, init, WindlassError } from "../index.js";
import { scratch } from "../testing/service.js";

before(() => init());

function refusal(code, words = /./) {
  return (error) => {
    assert.ok(error instanceof WindlassError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

const close = (found, wanted) => found.every((x, at) => Math.abs(x - wanted[at]) < 1e-6);

test("integers come back, over one ciphertext and over several", () => {
  for (const scheme of ["BGV", "BFV"]) {
    const context = Context.plan({ scheme });
    assert.deepEqual([context.scheme, context.modulus], [scheme, 65537n]);
    assert.ok(context.securityBits >= 128);
    const client = new Client(context);
    const values = BigInt64Array.from([1n, -2n, 32768n, -32768n, 0n]);
    assert.deepEqual(client.decrypt(client.encrypt(values)), values);
    const unsigned = BigUint64Array.from([0n, 65536n]);
    assert.deepEqual(client.decryptUnsigned(client.encrypt(unsigned)), unsigned);
    assert.deepEqual(client.decrypt(client.encrypt(unsigned)), BigInt64Array.from([0n, -1n]));
    const long = BigInt64Array.from({ length: context.slots + 3 }, (_, n) => BigInt((n % 1000) - 500));
    assert.deepEqual(client.decrypt(client.encrypt(long)), long);
    client.free();
    context.free();
  }
});

// In rings of several axes: their transforms had offsets that indices of 32 bits led back into the row.
test("integers come back in rings of composite index", () => {
  for (const m of [1023, 4369, 384]) {
    const shape = { p: m % 2 === 0 ? 257 : 2, r: 1, m, digits: 3, q_prime_bits: [45, 45, 45], special_prime_bits: [45] };
    const named = { windlass_parameters: 1, name: `insecure_${m}`, scheme: "BGV", assurance: "insecure", ...shape };
    const client = new Client(Context.fromParameters(JSON.stringify(named), { insecure: true }));
    const bits = BigUint64Array.from([1n, 0n, 0n, 1n]);
    assert.deepEqual(client.decryptUnsigned(client.encrypt(bits)).slice(0, 4), bits, `m = ${m}`);
    client.free();
  }
});

test("real numbers come back", () => {
  const context = Context.approximate({ depth: 1, slots: 4 });
  assert.deepEqual([context.scheme, context.modulus], ["CKKS", null]);
  const client = new Client(context);
  const values = Float64Array.from([0.5, -0.25, 1, 0, 1e-3]);
  assert.ok(close(client.decryptReal(client.encrypt(values)), values));
  const large = Float64Array.from([1000, -7.5]);
  assert.ok(close(client.decryptReal(client.encrypt(large, { bound: 1024 })), large));
  assert.throws(() => client.encrypt(large), refusal("ValueRangeError"));
  assert.throws(() => client.encrypt(Float64Array.of(NaN)), refusal("ValueRangeError"));
  assert.throws(() => client.encrypt(BigInt64Array.of(1n)), refusal("DTypeError"));
});

test("what is wrong is refused in words", () => {
  const context = Context.plan();
  const client = new Client(context);
  const other = new Client(context);
  const ciphertext = client.encrypt(BigInt64Array.of(1n, 2n));
  assert.throws(() => other.decrypt(ciphertext), refusal("OtherKeyPair"));
  assert.throws(() => client.decrypt(ciphertext.subarray(1)), refusal("FileError"));
  assert.throws(() => client.decryptReal(ciphertext), refusal("DTypeError"));
  for (const at of [0, 9, 60, 200, ciphertext.length - 1]) {
    const damaged = Uint8Array.from(ciphertext);
    damaged[at] ^= 1;
    assert.throws(() => client.decrypt(damaged), (error) => error instanceof WindlassError && error.code !== "Stopped");
  }
  assert.throws(() => client.encrypt(BigInt64Array.of(32769n)), refusal("ValueRangeError", /32769 at index 0/));
  assert.throws(() => client.encrypt([1, 2]), refusal("DTypeError"));
  assert.throws(() => client.encrypt(new BigInt64Array()), refusal("ShapeError"));
  const elsewhere = new Client(Context.plan({ modulus: 257n }));
  assert.throws(() => elsewhere.decrypt(ciphertext), refusal("OtherContext"));
  assert.throws(() => Context.plan({ modulus: 15n }), refusal("ParameterError", /power of a prime/));
  assert.throws(() => Context.plan({ depth: 1000 }), refusal("NoParameters"));
  assert.throws(() => Context.plan({ depth: -1 }), refusal("ParameterError"));
  const again = new Client(context, { secret: client.secret({ passphrase: "words" }), passphrase: "words" });
  assert.deepEqual(again.decrypt(ciphertext), BigInt64Array.of(1n, 2n));
});

test("hostile parameters are refused before keys are made", () => {
  const good = JSON.parse(Context.plan().parameters);
  const read = (change, options) => () => Context.fromParameters(JSON.stringify({ ...good, ...change }), options);
  assert.equal(read({})().slots, Context.plan().slots);
  const weak = { m: 2048, assurance: "insecure", name: "insecure_x" };
  assert.throws(read(weak), refusal("InsecureParameters", /insecure: true/));
  assert.throws(read({ m: 2048 }), refusal("InsecureParameters"));
  const begun = performance.now();
  for (const change of [
    { m: 2 ** 31 },
    { m: 2 ** 53 },
    { m: 0 },
    { p: 4 },
    { r: 2 ** 31 },
    { q_prime_bits: Array(10_000).fill(50) },
    { q_prime_bits: Array(128).fill(50), m: 2 ** 20, assurance: "insecure", name: "insecure_x" },
    { digits: 2 ** 32 },
    { ephemeral_weight: 6 },
    { secret_weight: 64 },
  ]) {
    const one = performance.now();
    assert.throws(read(change), (error) => error instanceof WindlassError && error.code !== "Stopped", JSON.stringify(change).slice(0, 80));
    assert.ok(performance.now() - one < 20_000, JSON.stringify(change).slice(0, 80));
  }
  assert.ok(performance.now() - begun < 60_000);
  const sparse = { ...weak, secret_weight: 64 };
  assert.throws(read(sparse), refusal("InsecureParameters", /sparse secret, and this package has no table/));
  assert.equal(read(sparse, { insecure: true })().securityBits, 0, "no table covers sparse secrets here");
  const toy = read(weak, { insecure: true })();
  assert.ok(toy.securityBits < 128 && new Client(toy).encrypt(BigInt64Array.of(1n)).length > 0);
  for (const text of ["", "{}", "[".repeat(100_000), "x".repeat(1 << 21)]) {
    assert.throws(() => Context.fromParameters(text), refusal("FileError"));
  }
});

test("Python computes with what JavaScript encrypted", { skip: process.env.WINDLASS_PYTHON === undefined }, () => {
  const place = scratch();
  for (const [context, values, wanted] of [
    [Context.plan(), BigInt64Array.of(3n, -4n), BigInt64Array.of(10n, 17n)],
    [Context.approximate(), Float64Array.of(0.5, -0.25), Float64Array.of(1.25, 1.0625)],
  ]) {
    const client = new Client(context);
    const files = Object.fromEntries(["context.json", "keys", "x", "y"].map((name) => [name, join(place, context.scheme + name)]));
    writeFileSync(files["context.json"], context.parameters);
    writeFileSync(files.keys, client.evaluationKeys({ products: true }));
    writeFileSync(files.x, client.encrypt(values));
    const program = `
import sys, windlass as wl
context = wl.Context.from_file(sys.argv[1])
server = context.load_server(sys.argv[2])
x = server.receive(context.load_ciphertext(sys.argv[3]))
(x * x + 1).save(sys.argv[4])
`;
    execFileSync(process.env.WINDLASS_PYTHON, ["-c", program, ...Object.values(files)]);
    const answer = readFileSync(files.y);
    if (context.scheme === "CKKS") assert.ok(close(client.decryptReal(answer), wanted), `${client.decryptReal(answer)}`);
    else assert.deepEqual(client.decrypt(answer), wanted);
  }
});
