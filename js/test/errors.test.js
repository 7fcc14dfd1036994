// Errors and freed objects, which every part of the package shares.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Gate, WindlassError } from "../errors.js";
import { Client, Context, init } from "../index.js";

before(() => init());

test("a freed object is refused by name, and freeing it twice does nothing", () => {
  const context = Context.plan();
  const client = new Client(context);
  client.free();
  client.free();
  assert.throws(() => client.publicKey(), { name: "WindlassError", code: "Freed", message: /make another/ });
  context.free();
  assert.throws(() => context.slots, { code: "Freed" });
  assert.throws(() => new Client(context), { code: "Freed" });
  assert.throws(() => new Client({}), { code: "DTypeError" });
});

test("an error keeps its cause, and a stopped module has nothing to free", async () => {
  const gate = new Gate();
  const broken = new Error("no file");
  await assert.rejects(gate.load(() => Promise.reject(broken)), (error) => error.code === "NotLoaded" && error.cause === broken);
  await gate.load(() => Promise.resolve());
  let frees = 0;
  const held = gate.hold(() => ({ free: () => (frees += 1) }));
  const refused = Object.assign(new Error("damaged"), { code: "FileError" });
  const throwing = (error) => () => {
    throw error;
  };
  assert.throws(() => held.call(throwing(refused)), (error) => error.code === "FileError" && error.cause === refused);
  const trap = new WebAssembly.RuntimeError("unreachable");
  assert.throws(() => held.call(throwing(trap)), (error) => error.code === "Stopped" && error.cause === trap);
  held.free();
  assert.equal(frees, 0);
  assert.equal(new WindlassError("FileError", "words").cause, undefined);
});

test("numbers of parameter sets are numbers or bigints", () => {
  for (const modulus of ["65537", 1.5, NaN, null, {}, true]) {
    assert.throws(() => Context.plan({ modulus }), { name: "WindlassError", code: "ParameterError" }, String(modulus));
  }
  for (const depth of ["1", null, [1], true, {}, Symbol("one")]) {
    assert.throws(() => Context.plan({ depth }), { name: "WindlassError", code: "ParameterError" });
  }
  assert.equal(Context.plan({ modulus: 257, depth: 1n }).modulus, 257n);
});
