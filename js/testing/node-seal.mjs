// Encryption and decryption of 8192 slots beside node-seal, in one process, alternating:
//     npm install --no-save --prefix js node-seal@7.0.0
//     node js/testing/node-seal.mjs BFV
// Needs a Node that reads node-seal's module (22 or newer; Node 20 refuses it). Both sides have four primes of 40
// bits and a special one of 48, and encrypt with the secret key into a file with a seed. Each result is compared.
import SEAL from "node-seal";
import { Client, Context, init } from "../index.js";

const scheme = process.argv[2] ?? "BFV";
const RUNS = 40;
const MODULUS = 65537n;
const N = 8192;
const values = BigInt64Array.from({ length: N }, (_, i) => (BigInt(i * 7919) % MODULUS) - 32768n);

await init();
const context = Context.plan({ modulus: MODULUS, depth: 3, slots: N, scheme });
const client = new Client(context);
const windlass = { encrypt: () => client.encrypt(values), decrypt: (file) => client.decrypt(file) };

async function nodeSeal() {
  const seal = await SEAL();
  const parameters = new seal.EncryptionParameters(scheme === "BFV" ? seal.SchemeType.bfv : seal.SchemeType.bgv);
  parameters.setPolyModulusDegree(N);
  parameters.setCoeffModulus(seal.CoeffModulus.Create(N, Int32Array.of(40, 40, 40, 40, 48)));
  parameters.setPlainModulus(new seal.Modulus(MODULUS));
  const context = new seal.SEALContext(parameters, true, seal.SecLevelType.tc128);
  const generator = new seal.KeyGenerator(context);
  const secret = generator.secretKey();
  const encoder = new seal.BatchEncoder(context);
  const encryptor = new seal.Encryptor(context, generator.createPublicKey(), secret);
  const decryptor = new seal.Decryptor(context, secret);
  return {
    encrypt() {
      const plain = new seal.Plaintext();
      encoder.encode(values, plain);
      const ciphertext = encryptor.encryptSymmetricSerializable(plain);
      const file = ciphertext.saveToArray(seal.ComprModeType.none);
      ciphertext.delete();
      plain.delete();
      return file;
    },
    decrypt(file) {
      const [ciphertext, plain] = [new seal.Ciphertext(), new seal.Plaintext()];
      ciphertext.loadFromArray(context, file);
      decryptor.decrypt(ciphertext, plain);
      const decrypted = encoder.decodeBigInt64(plain);
      ciphertext.delete();
      plain.delete();
      return decrypted;
    },
  };
}

/** Milliseconds of processor time, and the result. */
function timed(work) {
  const begun = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(begun);
  return [(user + system) / 1000, result];
}

const sides = { windlass, "node-seal": await nodeSeal() };
const times = {};
for (let run = 0; run < RUNS; run += 1) {
  for (const [name, side] of Object.entries(sides)) {
    const [encrypting, file] = timed(side.encrypt);
    const [decrypting, found] = timed(() => side.decrypt(file));
    const same = found.length === N && found.every((value, i) => (value - values[i]) % MODULUS === 0n);
    if (!same) throw new Error(`${name} decrypts something else`);
    (times[`${name} encrypt, ${file.length} bytes`] ??= []).push(encrypting);
    (times[`${name} decrypt`] ??= []).push(decrypting);
  }
}
for (const [name, list] of Object.entries(times)) {
  list.sort((a, b) => a - b);
  console.log(`${scheme} ${name}: least ${list[0].toFixed(2)} ms, median ${list[RUNS >> 1].toFixed(2)} ms`);
}
