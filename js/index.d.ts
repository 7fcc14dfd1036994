import type { Bytes, SecretOptions } from "./lookup.js";

export * from "./lookup.js";

/** Numbers of a parameter set for integers. */
export interface PlanOptions {
  /** A power of a prime below 2^45; 65537 by default. Integers are computed modulo it. */
  modulus?: number | bigint;
  /** Multiplications of ciphertexts in sequence; 1 by default. */
  depth?: number;
  /** At least so many slots. */
  slots?: number;
  scheme?: "BGV" | "BFV";
}

/** Numbers of a parameter set for real numbers. */
export interface ApproximateOptions {
  /** Products in sequence; 2 by default. */
  depth?: number;
  /** log2 of the scale, 25 to 50; 40 by default. */
  scaleBits?: number;
  /** Values may grow to almost 2**valueBits; 16 by default. */
  valueBits?: number;
  slots?: number;
}

/** What client and server agree on: scheme, parameters, slots. */
export class Context implements Disposable {
  private constructor();
  /** The context of a parameter file. Below 128 bits it is refused unless `insecure`, which is for tests. */
  static fromParameters(text: string, options?: { insecure?: boolean }): Context;
  /** The smallest parameters for a computation with integers. */
  static plan(options?: PlanOptions): Context;
  /** The smallest parameters for a computation with real numbers (CKKS). */
  static approximate(options?: ApproximateOptions): Context;
  /** The parameter file. Python reads it with `Context.from_file`. */
  readonly parameters: string;
  readonly scheme: "BGV" | "BFV" | "CKKS";
  /** The slots of a ciphertext. */
  readonly slots: number;
  /** The plaintext modulus; null for CKKS. */
  readonly modulus: bigint | null;
  readonly securityBits: number;
  free(): void;
  [Symbol.dispose](): void;
}

/** The side that holds the secret key: it encrypts and decrypts. */
export class Client implements Disposable {
  /** Without a secret key a fresh one is made. */
  constructor(context: Context, options?: SecretOptions);
  /** The file of the secret key, encrypted if there is a passphrase. */
  secret(options?: { passphrase?: Bytes }): Uint8Array;
  /** The file of a public key, with which others encrypt. */
  publicKey(): Uint8Array;
  /** The file of evaluation keys, for products of ciphertexts and for automorphisms X -> X**t. */
  evaluationKeys(options?: { products?: boolean; elements?: Iterable<number> }): Uint8Array;
  /** Encrypts integers (BGV, BFV), as a file that Python reads with `context.load_ciphertext`. */
  encrypt(values: BigInt64Array | BigUint64Array): Uint8Array;
  /** Encrypts real numbers (CKKS) of absolute value at most `bound`, which is public; 1 by default. */
  encrypt(values: Float64Array, options?: { bound?: number }): Uint8Array;
  /** Decrypts to signed integers. */
  decrypt(ciphertext: Bytes): BigInt64Array;
  /** Decrypts to integers from 0. */
  decryptUnsigned(ciphertext: Bytes): BigUint64Array;
  /** Decrypts to real numbers. Their errors depend on the secret key: do not publish them. */
  decryptReal(ciphertext: Bytes): Float64Array;
  free(): void;
  [Symbol.dispose](): void;
}
