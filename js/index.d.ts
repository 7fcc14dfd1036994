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

/** Numbers of rows: a typed array of whole rows, one row, or a list of rows; a row by name if its columns have names. */
export type Numbers<Flat> = Flat | readonly number[] | Record<string, number> | readonly (Flat | readonly number[] | Record<string, number>)[];

/** A vector of a table, and how near it is. */
export interface Neighbour {
  /** Its number in the table, from 0. */
  index: number;
  /** The inner product or the cosine, largest first; or the square of the Euclidean distance, smallest first. */
  score: number;
  /** How far the score may be from that of the vectors as they were given. */
  errorBound: number;
}

/** Vectors to look for. Integers of 8 bits are taken as they are, except with the cosine. */
export type SearchVectors = Numbers<Float64Array | Float32Array | Int8Array>;

/** A client of a table of vectors (`windlass search`): it makes queries and reads answers. Nothing is sent. */
export class SearchClient implements Disposable {
  /** All of the schema is checked. Without a secret key a fresh one is made. */
  constructor(schema: Bytes, options?: SecretOptions);
  /** How many vectors the table has. */
  readonly vectors: number;
  /** The numbers of a vector. */
  readonly dimension: number;
  readonly metric: "cosine" | "inner-product" | "euclidean";
  /** The names of the dimensions; empty if they have none. */
  readonly columns: string[];
  /** log2 of the work of the best known attack on what the server sees. */
  readonly securityBits: number;
  /** The hash that queries and answers are checked against, in hexadecimal. */
  readonly schemaHash: string;
  /** The file of the secret key, encrypted if there is a passphrase. Keep it as you keep a password. */
  secret(options?: { passphrase?: Bytes }): Uint8Array;
  /** The file of the evaluation keys: sent once, for any number of queries. */
  evaluationKeys(): Uint8Array;
  /** The file of encrypted vectors. */
  query(vectors: SearchVectors): Uint8Array;
  /** The k nearest vectors of each that was asked for, nearest first; 10 by default. */
  nearest(answer: Bytes, vectors: SearchVectors, k?: number): Neighbour[][];
  /** Frees the memory of the compiled part, and wipes the secret key in it. */
  free(): void;
  [Symbol.dispose](): void;
}

/** The scores of a row. */
export interface Scored {
  /** One number, whose sign decides, or one for each class. */
  scores: number[];
  /** The number of the class, from 0. */
  decision: number;
  /** What the class is called: its name, or its number. */
  class: string;
  /** Whether the decision is closer than the errors, so that it may be wrong. */
  close: boolean;
  /** How far each score may be from that of the model in the clear. */
  errorBound: number;
}

/** Rows of features. */
export type FeatureRows = Numbers<Float64Array>;

export interface ScoringOptions extends SecretOptions {
  /** Accepts parameters below 128 bits of security, for tests. */
  insecure?: boolean;
}

/** A client of a model (`windlass score`): it encrypts rows and reads scores. Nothing is sent. */
export class ScoringClient implements Disposable {
  /** The parameters of the schema are checked before keys are made. Without a secret key a fresh one is made. */
  constructor(schema: Bytes, options?: ScoringOptions);
  /** The numbers of a row. */
  readonly features: number;
  /** The names of the features; empty if they have none. */
  readonly columns: string[];
  /** log2 of the work of the best known attack on what the server sees. */
  readonly securityBits: number;
  /** The hash of the schema, in hexadecimal. */
  readonly schemaHash: string;
  /** The file of the secret key, encrypted if there is a passphrase. Keep it as you keep a password. */
  secret(options?: { passphrase?: Bytes }): Uint8Array;
  /** The file of the evaluation keys: sent once, for any number of rows. */
  evaluationKeys(): Uint8Array;
  /** The file of encrypted rows. */
  encrypt(rows: FeatureRows): Uint8Array;
  /** The scores of rows. Their errors depend on the secret key: do not publish them. */
  scores(answer: Bytes): Scored[];
  free(): void;
  [Symbol.dispose](): void;
}
