// Bytes, keys and row numbers, out of what callers give.
import { WindlassError } from "./errors.js";

const utf8 = new TextEncoder();

/** Bytes as they are, text as UTF-8. */
export function bytesOf(given, what) {
  if (typeof given === "string") return utf8.encode(given);
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (ArrayBuffer.isView(given) && given.BYTES_PER_ELEMENT !== undefined && given.BYTES_PER_ELEMENT > 1) {
    throw new WindlassError("DTypeError", `${what} must be bytes or text, not ${given.constructor.name}`);
  }
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  throw new WindlassError("DTypeError", `${what} must be bytes or text, not ${kindOf(given)}`);
}

/** Bytes of a passphrase, or nothing. */
export function passphraseOf(given) {
  return given === undefined || given === null ? undefined : bytesOf(given, "a passphrase");
}

/** The bytes of a key: whole numbers as their digits. */
function keyOf(given) {
  if (typeof given === "bigint" || Number.isSafeInteger(given)) return utf8.encode(String(given));
  if (typeof given === "number") {
    throw new WindlassError("DTypeError", `a key must be bytes, text or a whole number, not ${given}`);
  }
  return bytesOf(given, "a key");
}

function rowOf(given) {
  const row = typeof given === "bigint" ? Number(given) : given;
  if (typeof row !== "number" || !Number.isInteger(row)) {
    throw new WindlassError("DTypeError", `a row number must be a whole number, not ${kindOf(given)}`);
  }
  if (row < 0 || row > 0xffff_ffff) {
    throw new WindlassError("ParameterError", `row ${given} is out of range: the table has no such row`);
  }
  return row;
}

function isOne(given) {
  return typeof given !== "object" || given === null || ArrayBuffer.isView(given) || given instanceof ArrayBuffer;
}

/** One or several keys. */
export function keysOf(given) {
  if (isOne(given)) return [keyOf(given)];
  return Array.from(iterated(given), keyOf);
}

/** One or several row numbers. */
export function rowsOf(given) {
  const one = isOne(given) && !(ArrayBuffer.isView(given) && Symbol.iterator in given);
  return Uint32Array.from(one ? [rowOf(given)] : Array.from(iterated(given), rowOf));
}

function iterated(given) {
  if (typeof given[Symbol.iterator] === "function") return given;
  throw new WindlassError("DTypeError", "give one key or row number, or an array of them");
}

function kindOf(given) {
  return given === null ? "null" : (given?.constructor?.name ?? typeof given);
}
