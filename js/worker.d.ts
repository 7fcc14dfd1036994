import type { AskOptions, Bytes, ConnectOptions, Keys, Row, RefreshOptions, Wanted } from "./lookup.js";

/** A service in a worker. Its page is not held up while keys are made. */
export interface WorkerService extends Disposable {
  readonly url: string;
  /** log2 of the work of the best known attack on what the service sees. */
  readonly securityBits: number;
  /** The hash of the schema, in hexadecimal. */
  readonly schemaHash: string;
  /** Whether rows are asked for by key, not by number. */
  readonly keyed: boolean;
  /** The names of the columns; empty if rows have none. */
  readonly fields: string[];
  ask(wanted: Wanted, options?: AskOptions): Promise<(Uint8Array | null)[]>;
  records(wanted: Wanted, options?: AskOptions): Promise<(Row | null)[]>;
  secret(options?: { passphrase?: Bytes }): Promise<Uint8Array>;
  /** All keys, for `kept` of a later connection. */
  keys(options?: { passphrase?: Bytes }): Promise<Keys>;
  refresh(options?: RefreshOptions): Promise<boolean>;
  /** Ends the worker, and with it its memory. Calls under way are refused, and so are later ones. */
  free(): void;
}

/** Connects to a service in a worker of its own. */
export function connectInWorker(url: string | URL, options?: Omit<ConnectOptions, "fetch">): Promise<WorkerService>;
