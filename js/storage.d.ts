import type { Bytes, Keys } from "./lookup.js";

/**
 * Keeps the file of a secret key under a name in IndexedDB. Without a passphrase (`secret({ passphrase })`)
 * everyone who can read the storage of the page has the key.
 */
export function keepSecret(name: string, secret: Bytes): Promise<void>;
/** The file that is kept under a name. */
export function keptSecret(name: string): Promise<Uint8Array | undefined>;
/** Removes what is kept under a name. */
export function forgetSecret(name: string): Promise<void>;

/**
 * Keeps all keys of a service (`service.keys()`) under a name in IndexedDB, so that a later visit makes and uploads
 * none. The service can tell then that both visits are of one browser.
 */
export function keepKeys(name: string, keys: Keys): Promise<void>;
/** The keys that are kept under a name, for `connect(url, { kept })`. */
export function keptKeys(name: string): Promise<Keys | undefined>;
/** Removes the keys that are kept under a name. */
export function forgetKeys(name: string): Promise<void>;
