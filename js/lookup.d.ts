/** A key of a row: text, bytes, or a whole number, which stands for its digits. */
export type Key = string | number | bigint | Uint8Array | ArrayBuffer;
/** Rows to ask for: keys of a table by key, numbers from 0 of a table by number. */
export type Wanted = Key | Iterable<Key>;
/** Bytes, or text as UTF-8. */
export type Bytes = Uint8Array | ArrayBuffer | string;
/** A row as an object of its columns. */
export type Row = Record<string, string>;

/** The kinds of refusals. Those that Python has too have the names of its exceptions. */
export type ErrorCode =
  | "CapacityExhausted"
  | "DTypeError"
  | "FileError"
  | "Freed"
  | "HiddenKeysError"
  | "InsecureParameters"
  | "NoParameters"
  | "NotDecryptable"
  | "NotLoaded"
  | "OtherContext"
  | "OtherKeyPair"
  | "OutOfMemory"
  | "ParameterError"
  | "PassphraseNeeded"
  | "ServiceError"
  | "ServiceUnavailable"
  | "ShapeError"
  | "Stopped"
  | "StorageError"
  | "TableReplaced"
  | "UnknownName"
  | "ValueRangeError"
  | "WindlassError"
  | "WrongPassphrase";

/** Any refusal: what happened, and what to do about it. */
export class WindlassError extends Error {
  readonly code: ErrorCode;
  /** The status of a response, if a service refused. */
  readonly status?: number;
  /** The kind of the service's problem, such as "busy". */
  readonly problem?: string;
  /** What the service says to do: text of the service. */
  readonly fix?: string;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/** The compiled part, if it does not lie beside the package: its bytes, its address or a response. */
export type Source = Uint8Array | ArrayBuffer | URL | string | Response | Promise<Response> | WebAssembly.Module;

/** Loads the compiled part. Await it once before anything else. */
export function init(source?: Source): Promise<void>;

/** The file of a secret key, and the passphrase if it is encrypted. */
export interface SecretOptions {
  secret?: Bytes;
  passphrase?: Bytes;
}

/** Keys that the server helped to hide. */
export interface HiddenKeys extends Disposable {
  readonly count: number;
  free(): void;
}

/** Keys that the server is to help with, without learning them. */
export interface TableBlinding extends Disposable {
  /** What to send: 32 bytes for each key. */
  readonly points: Uint8Array;
  /** What stands for the keys, from what the server returned. */
  finish(helped: Bytes): HiddenKeys;
  free(): void;
}

/** Rows that are asked for in portions. */
export interface TableGathering extends Disposable {
  /** The next query, or null once all rows are there. */
  query(): Uint8Array | null;
  read(answer: Bytes): void;
  readonly count: number;
  rows(): (Uint8Array | null)[];
  free(): void;
}

/** A client of a table: it makes queries and reads answers. Nothing is sent. */
export class TableClient implements Disposable {
  /** All of the schema is checked. Without a secret key a fresh one is made. */
  constructor(schema: Bytes, options?: SecretOptions);
  /** Whether rows are asked for by key, not by number. */
  readonly keyed: boolean;
  /** Whether the table hides its keys: then `query` takes the result of `blind`. */
  readonly hidesKeys: boolean;
  /** The names of the columns; empty if rows have none. */
  readonly fields: string[];
  /** log2 of the work of the best known attack on what the server sees. */
  readonly securityBits: number;
  /** The hash of the schema, in hexadecimal. */
  readonly schemaHash: string;
  /** The file of the secret key, encrypted if there is a passphrase. Keep it as you keep a password. */
  secret(options?: { passphrase?: Bytes }): Uint8Array;
  /** The file of the evaluation keys: sent once, for any number of queries. */
  evaluationKeys(): Uint8Array;
  /** Refuses evaluation keys that are damaged, of other parameters, or of another secret key. */
  checkEvaluationKeys(keys: Bytes): void;
  /** A query for rows. It does not reveal which. */
  query(wanted: Wanted | HiddenKeys): Uint8Array;
  /** The rows in the answer to a query for the same rows; null for a row that is not there. */
  rows(answer: Bytes, wanted: Wanted | HiddenKeys): (Uint8Array | null)[];
  /** A row of a table with columns, as an object of them. */
  record(row: Uint8Array): Row;
  record(row: null): null;
  blind(keys: Wanted): TableBlinding;
  /** Short rows of a table with long ones cost little then. The server learns about how long each row is. */
  inPortions(wanted: Wanted): TableGathering;
  /** Bytes of the longest answer to a query for so many rows. */
  answerBytes(rows: number): number;
  /** Frees the memory of the compiled part, and wipes the secret key in it. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What a service is waited for, or the compiled part: "keys" takes the longest. */
export type Stage = "load" | "schema" | "keys" | "upload" | "ask";

/** All keys of a client, and the hash of the schema that they were made for. */
export interface Keys {
  /** The file of the secret key, encrypted if there is a passphrase. */
  secret: Uint8Array;
  /** The file of the evaluation keys. */
  evaluationKeys: Uint8Array;
  schemaHash: string;
}

export interface ConnectOptions extends SecretOptions {
  /**
   * Keys of an earlier visit, instead of `secret`: none are made then. If the table has another schema since, the
   * error has the code `TableReplaced`.
   */
  kept?: Keys;
  /** The token from the owner of the service. It is sent over https, or to this machine. */
  token?: string;
  /** The hash that the schema must have: 64 hexadecimal digits. */
  schemaHash?: string;
  /** How often a request is sent again if the service is busy or cannot be reached; 5 by default. */
  retries?: number;
  /** Milliseconds for one response, above 0; 120000 by default. */
  timeout?: number;
  /** Hears what is done next. */
  onProgress?: (stage: Stage) => void;
  /** Stops connecting. */
  signal?: AbortSignal;
  /** Instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

export interface RefreshOptions extends SecretOptions {
  /** The hash that the schema must have. Without it a pinned hash stays the only one accepted. */
  schemaHash?: string;
  /** Stops the request. */
  signal?: AbortSignal;
}

export interface AskOptions {
  /** Ask in portions. The service then learns about how long each row is. */
  portions?: boolean;
  /** Stops this ask. An upload that other asks wait for too continues. */
  signal?: AbortSignal;
}

/** A lookup service (`windlass serve`), and its client: keys are made once and uploaded once. */
export class LookupService implements Disposable {
  private constructor();
  /** Fetches the schema of a service's table and makes keys. */
  static connect(url: string | URL, options?: ConnectOptions): Promise<LookupService>;
  readonly url: string;
  readonly client: TableClient;
  readonly securityBits: number;
  /** How often keys were uploaded. */
  readonly uploads: number;
  /** Rows as bytes; null for a row that is not there. The service does not learn which. */
  ask(wanted: Wanted, options?: AskOptions): Promise<(Uint8Array | null)[]>;
  /** Rows as objects of their columns. */
  records(wanted: Wanted, options?: AskOptions): Promise<(Row | null)[]>;
  /** The file of the secret key, encrypted if there is a passphrase. */
  secret(options?: { passphrase?: Bytes }): Uint8Array;
  /** All keys, for `kept` of a later `connect`. */
  keys(options?: { passphrase?: Bytes }): Keys;
  /** Fetches the present schema. Returns whether the table has another layout: then keys are made for it. */
  refresh(options?: RefreshOptions): Promise<boolean>;
  /** Frees the client once the asks under way have ended. */
  free(): void;
  [Symbol.dispose](): void;
}

/** The text in a row. */
export function textOf(row: Uint8Array): string;
