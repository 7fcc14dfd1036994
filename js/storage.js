// Keys in IndexedDB, where pages of one origin find them again.
import { bytesOf } from "./bytes.js";
import { WindlassError } from "./errors.js";

const STORE = "secrets";

/** The refusal of storage, in words. */
function refused(what, cause) {
  const why = cause?.message || "no reason given";
  return new WindlassError("StorageError", `the browser cannot ${what} (${why}): allow storage for this page, or make room`, { cause });
}

/** What a request gives, or why storage refuses. */
function done(request, what) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(refused(what, request.error));
    request.onblocked = () => reject(refused(what, new Error("another page holds the store open")));
  });
}

/** Whether a transaction ended well. */
function ended(transaction, what) {
  const end = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(refused(what, transaction.error));
  });
  // A request that fails reports first, and nobody waits for this then.
  end.catch(() => {});
  return end;
}

/** Does one thing in the store. */
async function inStore(mode, what, work) {
  let database;
  try {
    const request = globalThis.indexedDB.open("windlass", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    database = await done(request, what);
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const end = ended(transaction, what);
    const result = await done(work(transaction.objectStore(STORE)), what);
    await end;
    return result;
  } catch (error) {
    throw error instanceof WindlassError ? error : refused(what, error);
  } finally {
    database?.close();
  }
}

/** Keeps the file of a secret key under a name, instead of what was kept under it. */
export async function keepSecret(name, secret) {
  // A copy: of a view, the store would keep the whole buffer.
  const bytes = bytesOf(secret, "a secret key").slice();
  try {
    await inStore("readwrite", "store the key", (store) => store.put(bytes, name));
  } finally {
    bytes.fill(0);
  }
}

/** The file that is kept under a name, or undefined. */
export function keptSecret(name) {
  return inStore("readonly", "read the key", (store) => store.get(name));
}

/** Removes what is kept under a name. */
export async function forgetSecret(name) {
  await inStore("readwrite", "remove the key", (store) => store.delete(name));
}

/** Where the keys of a service stand: no name of a secret is a list. */
function placeOf(name) {
  return ["keys", String(name)];
}

/** Keeps all keys of a service under a name, instead of what was kept under it. */
export async function keepKeys(name, { secret, evaluationKeys, schemaHash }) {
  const kept = {
    secret: bytesOf(secret, "a secret key").slice(),
    evaluationKeys: bytesOf(evaluationKeys, "evaluation keys").slice(),
    schemaHash: String(schemaHash),
  };
  try {
    await inStore("readwrite", "store the keys", (store) => store.put(kept, placeOf(name)));
  } finally {
    kept.secret.fill(0);
  }
}

/** The keys that are kept under a name, or undefined. */
export function keptKeys(name) {
  return inStore("readonly", "read the keys", (store) => store.get(placeOf(name)));
}

/** Removes the keys that are kept under a name. */
export async function forgetKeys(name) {
  await inStore("readwrite", "remove the keys", (store) => store.delete(placeOf(name)));
}
