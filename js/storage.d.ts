import type { Bytes } from "./lookup.js";

/**
 * Keeps the file of a secret key under a name in IndexedDB. Without a passphrase (`secret({ passphrase })`)
 * everyone who can read the storage of the page has the key.
 */
export function keepSecret(name: string, secret: Bytes): Promise<void>;
/** The file that is kept under a name. */
export function keptSecret(name: string): Promise<Uint8Array | undefined>;
/** Removes what is kept under a name. */
export function forgetSecret(name: string): Promise<void>;
