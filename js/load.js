// Loads the compiled part: by fetch in browsers, from the file in Node.

/** Starts a module of wasm-bindgen from `source`, or from the file at `place`. */
export async function start(module, place, source) {
  let code = source ?? place;
  if (source === undefined && place.protocol === "file:" && globalThis.process?.versions?.node !== undefined) {
    const { readFile } = await import(/* @vite-ignore */ "node:fs/promises");
    code = await readFile(place);
  }
  await module.default({ module_or_path: code });
}
