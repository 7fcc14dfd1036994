// Errors: the library's own words, and the name of the kind as `code`.

/** Any refusal. `code` has the name that the exception has in the Python package. */
export class WindlassError extends Error {
  constructor(code, message, data = {}) {
    super(message);
    this.name = "WindlassError";
    this.code = code;
    Object.assign(this, data);
  }
}

/** The same error as an instance of `WindlassError`. */
function ours(error) {
  if (error instanceof WindlassError || typeof error?.code !== "string") return error;
  return new WindlassError(error.code, error.message);
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
        throw new WindlassError("NotLoaded", `the compiled part of windlass cannot be loaded: ${error.message}`);
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
        throw stopped();
      }
      throw ours(error);
    }
  }
}

function stopped() {
  const message =
    "the compiled part of windlass stopped, because memory ran out or because of a bug of ours: load the page again, and do less at once";
  return new WindlassError("Stopped", message);
}
