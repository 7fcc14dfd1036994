// Vectors of integers (BGV, BFV) and of real numbers (CKKS): what a client does.
import { bytesOf, passphraseOf } from "./bytes.js";
import { WindlassError } from "./errors.js";

/** The classes of vectors over one compiled module. */
export function vectors(gate, wasm) {
  /** What client and server agree on: scheme, parameters, slots. */
  class Context {
    constructor(own) {
      this.own = own;
    }

    static fromParameters(text, { insecure = false } = {}) {
      if (typeof text !== "string") throw new WindlassError("DTypeError", "parameters must be the text of a file");
      return new Context(gate.hold(() => wasm.Context.read(text, Boolean(insecure))));
    }

    static plan({ modulus = 65537n, depth = 1, slots = 1, scheme = "BGV" } = {}) {
      if (!["BGV", "BFV"].includes(scheme)) {
        throw new WindlassError("ParameterError", `unknown scheme ${JSON.stringify(scheme)}; choose "BGV" or "BFV"`);
      }
      const [levels, least] = [natural(depth, "depth"), natural(slots, "slots")];
      const order = integer(modulus, "the modulus");
      if (order < 2n || order >= 1n << 45n) {
        throw new WindlassError("ParameterError", `the modulus is ${order}, but must be a power of a prime below 2^45`);
      }
      return new Context(gate.hold(() => wasm.Context.plan(order, levels, least, scheme === "BFV")));
    }

    static approximate({ depth = 2, scaleBits = 40, valueBits = 16, slots = 1 } = {}) {
      const [levels, scale] = [natural(depth, "depth"), natural(scaleBits, "scaleBits")];
      const [values, least] = [natural(valueBits, "valueBits"), natural(slots, "slots")];
      return new Context(gate.hold(() => wasm.Context.approximate(levels, scale, values, least)));
    }

    get parameters() {
      return this.own.call((own) => own.parameters);
    }

    get scheme() {
      return this.own.call((own) => own.scheme);
    }

    get slots() {
      return this.own.call((own) => own.slots);
    }

    get modulus() {
      return this.own.call((own) => own.modulus) ?? null;
    }

    get securityBits() {
      return this.own.call((own) => own.securityBits);
    }

    free() {
      this.own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  /** The side that holds the secret key: it encrypts and decrypts. */
  class Client {
    #own;

    constructor(context, { secret, passphrase } = {}) {
      const file = secret === undefined ? undefined : bytesOf(secret, "a secret key");
      const words = passphraseOf(passphrase);
      if (words !== undefined && file === undefined) {
        throw new WindlassError("ParameterError", "a passphrase needs the file of a secret key: give secret");
      }
      if (!(context instanceof Context)) throw new WindlassError("DTypeError", "a client needs a Context");
      this.#own = gate.hold(() => new wasm.Client(context.own.object, file, words));
    }

    secret({ passphrase } = {}) {
      const words = passphraseOf(passphrase);
      return this.#own.call((own) => own.secret(words));
    }

    publicKey() {
      return this.#own.call((own) => own.publicKey());
    }

    evaluationKeys({ products = false, elements = [] } = {}) {
      const listed = Uint32Array.from(elements, (element) => natural(element, "an automorphism"));
      return this.#own.call((own) => own.evaluationKeys(listed, Boolean(products)));
    }

    encrypt(values, { bound = 1 } = {}) {
      if (values instanceof BigInt64Array) return this.#own.call((own) => own.encryptSigned(values));
      if (values instanceof BigUint64Array) return this.#own.call((own) => own.encryptUnsigned(values));
      if (values instanceof Float64Array) return this.#own.call((own) => own.encryptReal(values, bound));
      throw new WindlassError(
        "DTypeError",
        "encrypt takes a BigInt64Array or a BigUint64Array of integers, or a Float64Array of real numbers",
      );
    }

    decrypt(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return this.#own.call((own) => own.decryptSigned(bytes));
    }

    decryptUnsigned(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return this.#own.call((own) => own.decryptUnsigned(bytes));
    }

    decryptReal(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return this.#own.call((own) => own.decryptReal(bytes));
    }

    free() {
      this.#own.free();
    }

    [Symbol.dispose]() {
      this.free();
    }
  }

  return { Context, Client };
}

/** A whole number, as a bigint. */
function integer(given, what) {
  if (typeof given === "bigint") return given;
  if (Number.isSafeInteger(given)) return BigInt(given);
  throw new WindlassError("ParameterError", `${what} is ${nameOf(given)}, but must be a whole number`);
}

function natural(given, what) {
  const number = typeof given === "bigint" ? Number(given) : given;
  if (!Number.isInteger(number) || number < 0 || number > 0xffff_ffff) {
    throw new WindlassError("ParameterError", `${what} is ${nameOf(given)}, but must be a whole number from 0 to 4294967295`);
  }
  return number;
}

/** A number itself, and the type of anything else. */
function nameOf(given) {
  return ["number", "bigint"].includes(typeof given) ? String(given) : `of type ${typeof given}`;
}
