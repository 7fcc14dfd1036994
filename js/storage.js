// Secret keys in IndexedDB, where pages of one origin find them again.
import { bytesOf } from "./bytes.js";
import { WindlassError } from "./errors.js";

const STORE = "secrets";

/** What a request gives, or why storage refuses. */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    const refuse = (why) => {
      const message = `the browser does not store the key (${why}): allow storage for this page, or make room`;
      reject(new WindlassError("StorageError", message));
    };
    request.onerror = () => refuse(request.error?.message ?? "no reason given");
    request.onblocked = () => refuse("another page holds the store open");
  });
}

/** Does one thing in the store. */
async function inStore(mode, work) {
  let request;
  try {
    request = globalThis.indexedDB.open("windlass", 1);
  } catch (error) {
    throw new WindlassError("StorageError", `this page may not store keys: ${error.message}`);
  }
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  const database = await done(request);
  try {
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () =>
        reject(new WindlassError("StorageError", `the browser does not store the key: ${transaction.error?.message}`));
    });
    const result = await done(work(transaction.objectStore(STORE)));
    await ended;
    return result;
  } finally {
    database.close();
  }
}

/** Keeps the file of a secret key under a name, instead of what was kept under it. */
export async function keepSecret(name, secret) {
  const bytes = bytesOf(secret, "a secret key");
  await inStore("readwrite", (store) => store.put(bytes, name));
}

/** The file that is kept under a name, or undefined. */
export function keptSecret(name) {
  return inStore("readonly", (store) => store.get(name));
}

/** Removes what is kept under a name. */
export async function forgetSecret(name) {
  await inStore("readwrite", (store) => store.delete(name));
}
