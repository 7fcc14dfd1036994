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
      return new Context(gate.call(() => wasm.Context.read(text, Boolean(insecure))));
    }

    static plan({ modulus = 65537n, depth = 1, slots = 1, scheme = "BGV" } = {}) {
      if (!["BGV", "BFV"].includes(scheme)) {
        throw new WindlassError("ParameterError", `unknown scheme ${JSON.stringify(scheme)}; choose "BGV" or "BFV"`);
      }
      const [levels, least] = [natural(depth, "depth"), natural(slots, "slots")];
      const order = BigInt(modulus);
      if (order < 2n || order >= 1n << 45n) {
        throw new WindlassError("ParameterError", `the modulus is ${order}, but must be a power of a prime below 2^45`);
      }
      return new Context(gate.call(() => wasm.Context.plan(order, levels, least, scheme === "BFV")));
    }

    static approximate({ depth = 2, scaleBits = 40, valueBits = 16, slots = 1 } = {}) {
      const [levels, scale] = [natural(depth, "depth"), natural(scaleBits, "scaleBits")];
      const [values, least] = [natural(valueBits, "valueBits"), natural(slots, "slots")];
      return new Context(gate.call(() => wasm.Context.approximate(levels, scale, values, least)));
    }

    get parameters() {
      return gate.call(() => this.own.parameters);
    }

    get scheme() {
      return gate.call(() => this.own.scheme);
    }

    get slots() {
      return gate.call(() => this.own.slots);
    }

    get modulus() {
      return gate.call(() => this.own.modulus) ?? null;
    }

    get securityBits() {
      return gate.call(() => this.own.securityBits);
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
      this.#own = gate.call(() => new wasm.Client(context.own, file, words));
    }

    secret({ passphrase } = {}) {
      const words = passphraseOf(passphrase);
      return gate.call(() => this.#own.secret(words));
    }

    publicKey() {
      return gate.call(() => this.#own.publicKey());
    }

    evaluationKeys({ products = false, elements = [] } = {}) {
      const listed = Uint32Array.from(elements, (element) => natural(element, "an automorphism"));
      return gate.call(() => this.#own.evaluationKeys(listed, Boolean(products)));
    }

    encrypt(values, { bound = 1 } = {}) {
      if (values instanceof BigInt64Array) return gate.call(() => this.#own.encryptSigned(values));
      if (values instanceof BigUint64Array) return gate.call(() => this.#own.encryptUnsigned(values));
      if (values instanceof Float64Array) return gate.call(() => this.#own.encryptReal(values, bound));
      throw new WindlassError(
        "DTypeError",
        "encrypt takes a BigInt64Array or a BigUint64Array of integers, or a Float64Array of real numbers",
      );
    }

    decrypt(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return gate.call(() => this.#own.decryptSigned(bytes));
    }

    decryptUnsigned(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return gate.call(() => this.#own.decryptUnsigned(bytes));
    }

    decryptReal(ciphertext) {
      const bytes = bytesOf(ciphertext, "a ciphertext");
      return gate.call(() => this.#own.decryptReal(bytes));
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

function natural(given, what) {
  const number = Number(given);
  if (!Number.isInteger(number) || number < 0 || number > 0xffff_ffff) {
    throw new WindlassError("ParameterError", `${what} is ${given}, but must be a whole number from 0 to 4294967295`);
  }
  return number;
}
