// Errors: the library's own words, and the name of the kind as `code`.

/** Any refusal. `code` has the name that the exception has in the Python package. */
export class WindlassError extends Error {
  constructor(code, message, { cause, ...data } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "WindlassError";
    this.code = code;
    Object.assign(this, data);
  }
}

/** The same error as an instance of `WindlassError`. */
function ours(error) {
  if (error instanceof WindlassError || typeof error?.code !== "string") return error;
  return new WindlassError(error.code, error.message, { cause: error });
}

/**
 * What calls into one compiled module have in common. A trap (memory ran out, or a bug) leaves the
 * module's memory in an unknown state, so every later call is refused.
 */
export class Gate {
  #loaded = false;
  #stopped = false;
  #loading;

  /** Loads the module once. After a failure the next call tries again. */
  load(start) {
    this.#loading ??= start().then(
      () => {
        this.#loaded = true;
      },
      (error) => {
        this.#loading = undefined;
        throw new WindlassError("NotLoaded", `the compiled part of windlass cannot be loaded: ${error.message}`, { cause: error });
      },
    );
    return this.#loading;
  }

  /** The result of a call. */
  call(work) {
    if (!this.#loaded) throw new WindlassError("NotLoaded", "await init() before anything else");
    if (this.#stopped) throw stopped();
    try {
      return work();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
        this.#stopped = true;
        throw stopped(error);
      }
      throw ours(error);
    }
  }

  /** Keeps an object that a call makes, until it is freed. */
  hold(make) {
    return new Held(this, this.call(make));
  }

  /** Gives back the memory of an object. A module that stopped has nothing to give back. */
  release(object) {
    if (!this.#stopped) this.call(() => object.free());
  }
}

/** An object in the memory of a compiled module, until it is freed. */
class Held {
  #gate;
  #object;

  constructor(gate, object) {
    this.#gate = gate;
    this.#object = object;
  }

  /** The object. */
  get object() {
    if (this.#object === null) throw freed();
    return this.#object;
  }

  /** The result of a call on the object. */
  call(work) {
    const object = this.object;
    return this.#gate.call(() => work(object));
  }

  /** Keeps another object that a call on this one makes. */
  hold(work) {
    return new Held(this.#gate, this.call(work));
  }

  /** Frees the object. A second call does nothing. */
  free() {
    const object = this.#object;
    this.#object = null;
    if (object !== null) this.#gate.release(object);
  }
}

/** The refusal of what was freed. */
export function freed() {
  return new WindlassError("Freed", "this object was freed: make another");
}

function stopped(cause) {
  const message =
    "the compiled part of windlass stopped, because memory ran out or because of a bug of ours: load the page again, and do less at once";
  return new WindlassError("Stopped", message, { cause });
}
