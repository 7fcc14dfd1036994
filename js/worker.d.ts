import type { AskOptions, Bytes, ConnectOptions, Row, SecretOptions, Wanted } from "./lookup.js";

/** A service in a worker. Its page is not held up while keys are made. */
export interface WorkerService extends Disposable {
  ask(wanted: Wanted, options?: AskOptions): Promise<(Uint8Array | null)[]>;
  records(wanted: Wanted, options?: AskOptions): Promise<(Row | null)[]>;
  secret(options?: { passphrase?: Bytes }): Promise<Uint8Array>;
  refresh(options?: SecretOptions): Promise<boolean>;
  /** Ends the worker, and with it its memory. */
  free(): void;
}

/** Connects to a service in a worker of its own. */
export function connectInWorker(url: string | URL, options?: Omit<ConnectOptions, "fetch">): Promise<WorkerService>;
