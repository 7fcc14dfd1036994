// Rows of numbers, out of what callers give.
import { WindlassError } from "./errors.js";

const FLAT = [Float64Array, Float32Array, Int8Array];

/** Whether something is a typed array of a kind that is taken. */
function isFlat(given) {
  return FLAT.some((kind) => given instanceof kind);
}

/**
 * The numbers of one or several rows, one row after another. `given` is a typed array of whole rows, a list of
 * numbers, an object of columns if they have names, or a list of such rows.
 */
export function flat(given, length, columns, what) {
  if (isFlat(given)) {
    if (given.length > 0 && given.length % length === 0) return given;
    throw wrongLength(given.length, length, what);
  }
  const rows = Array.isArray(given) && typeof given[0] !== "number" ? given : [given];
  if (rows.length === 0) throw new WindlassError("ShapeError", `there is no ${what}: give at least one`);
  const made = rows.map((row) => numbersOf(row, length, columns, what));
  // Rows of one kind keep it: integers of 8 bits are taken as they are.
  const kind = FLAT.find((kind) => rows.every((row) => row instanceof kind)) ?? Float64Array;
  const all = new kind(made.length * length);
  made.forEach((row, n) => all.set(row, n * length));
  return all;
}

/** The numbers of one row. */
function numbersOf(row, length, columns, what) {
  const list = isFlat(row) || Array.isArray(row) ? row : byName(row, columns, what);
  if (list.length !== length) throw wrongLength(list.length, length, what);
  const wrong = isFlat(list) ? -1 : list.findIndex((value) => typeof value !== "number");
  if (wrong >= 0) throw new WindlassError("DTypeError", `the value at index ${wrong} of a ${what} must be a number`);
  return list;
}

/** The numbers of an object of columns, in their order. */
function byName(row, columns, what) {
  if (typeof row !== "object" || row === null) {
    throw new WindlassError("DTypeError", `a ${what} must be an array of numbers, or an object of its columns`);
  }
  if (columns.length === 0) {
    throw new WindlassError("DTypeError", `the columns of a ${what} have no names here: give an array of numbers`);
  }
  return columns.map((name) => {
    if (Object.hasOwn(row, name)) return row[name];
    throw new WindlassError("ShapeError", `a ${what} has no column ${JSON.stringify(name)}`);
  });
}

function wrongLength(found, wanted, what) {
  return new WindlassError("ShapeError", `a ${what} has ${wanted} numbers, but ${found} were given`);
}
