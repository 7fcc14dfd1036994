// Compiled by `tsc`, never run: a program that uses the package as its declarations say.
import { Client, Context, init, LookupService, ScoringClient, SearchClient, textOf, WindlassError } from "../index.js";
import type { ErrorCode, Keys, Neighbour, Row, Scored, Source, Stage } from "../index.js";
import * as lookup from "../lookup.js";
import { forgetKeys, forgetSecret, keepKeys, keepSecret, keptKeys, keptSecret } from "../storage.js";
import { connectInWorker } from "../worker.js";
import type { WorkerService } from "../worker.js";

export async function lookups(url: URL): Promise<(Row | null)[]> {
  const source: Source = new URL("windlass.wasm", url);
  await init(source);
  const secret: Uint8Array | undefined = await keptSecret("zones");
  const told: Stage[] = [];
  const service = await LookupService.connect(url, {
    ...(secret === undefined ? {} : { secret }),
    passphrase: "words",
    onProgress: (stage) => told.push(stage),
    signal: AbortSignal.timeout(1000),
  });
  const bits: number = service.securityBits;
  const rows: (Uint8Array | null)[] = await service.ask(["a", 1, 2n, new Uint8Array(3)], { portions: bits > 128 });
  const text: string[] = rows.map((row) => (row === null ? "" : textOf(row)));
  await keepSecret("zones", service.secret({ passphrase: "words" }));
  await forgetSecret("zones");
  const changed: boolean = await service.refresh({ schemaHash: service.client.schemaHash });
  if (changed) service.free();
  return service.records(text);
}

export function offline(schema: Uint8Array, answer: Uint8Array): Row | null {
  using client = new lookup.TableClient(schema);
  const query: Uint8Array = client.query("Europe/Lisbon");
  const [row] = client.rows(answer, "Europe/Lisbon");
  using blinding = client.blind(["a"]);
  using hidden = blinding.finish(blinding.points);
  using gathering = client.inPortions(["a"]);
  const next: Uint8Array | null = gathering.query();
  // @ts-expect-error a schema is bytes or text
  new lookup.TableClient(5);
  return row === undefined || row === null || query.length + hidden.count === next?.length ? null : client.record(row);
}

export async function worker(): Promise<WorkerService> {
  const kept: Keys | undefined = await keptKeys("zones");
  const again = await connectInWorker("https://tables.example", kept === undefined ? {} : { kept });
  await keepKeys("zones", await again.keys({ passphrase: "words" }));
  await forgetKeys("zones");
  const service = await connectInWorker("https://tables.example", { token: "secret" });
  const secret: Uint8Array = await service.secret();
  // @ts-expect-error workers have a `fetch` of their own
  await connectInWorker("https://tables.example", { secret, fetch });
  return service;
}

export function vectors(): BigInt64Array | BigUint64Array {
  const context = Context.plan({ modulus: 65537n, depth: 1, scheme: "BFV" });
  const client = new Client(context);
  const encrypted: Uint8Array = client.encrypt(BigInt64Array.of(3n, -4n));
  const real = new Client(Context.approximate({ depth: 1 }));
  const numbers: Float64Array = real.decryptReal(real.encrypt(Float64Array.of(0.5)));
  const keys: Uint8Array = client.evaluationKeys({ products: true });
  return numbers.length > keys.length ? BigInt64Array.of() : client.decrypt(encrypted);
}

export function code(error: unknown): ErrorCode | undefined {
  return error instanceof WindlassError ? error.code : undefined;
}

export function neighbours(schema: Uint8Array, answer: Uint8Array): Neighbour | undefined {
  using client = new SearchClient(schema);
  const sent: Uint8Array[] = [client.query(Float32Array.of(1, 2)), client.query([[1, 2], { sea: 1, land: 2 }])];
  // @ts-expect-error vectors are numbers
  client.query("1, 2");
  return client.nearest(answer, Int8Array.of(1, 2), sent.length)[0]?.[0];
}

export function scores(schema: Uint8Array, answer: Uint8Array): Scored[] {
  using client = new ScoringClient(schema, { insecure: true, passphrase: "words", secret: schema });
  const sent: Uint8Array = client.encrypt([{ age: 3, income: 5 }, Float64Array.of(1, 2)]);
  return sent.length > 0 ? client.scores(answer) : [];
}
