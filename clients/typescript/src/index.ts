/** Client of the memory server: openapi-fetch with the key, idempotency and retries. */

import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type MemoryClient = Client<paths>;

export interface Options {
  /** Where the server is, such as http://127.0.0.1:8000. */
  url: string;
  /** The secret of a key. */
  key: string;
  /** How often a call is tried; default 4. */
  attempts?: number;
  /** The longest wait between two tries, in seconds; default 30. */
  waitAtMost?: number;
}

// Node 18 has no global `crypto`.
const ids = globalThis.crypto ?? (await import("node:crypto"));
const TAKES_KEY = /\/api\/v0\/(add_messages?|notes(\/batch)?)$/;
const ONLY_READS =
  /\/api\/v0\/(retrieve_memory|recent_memory)(\/raw)?$|\/(context_pre_retrieve|search|reconstruct_context|chunk)$/;

/** Return a client whose paths, bodies and answers are typed by the API's description. */
export function connect(options: Options): MemoryClient {
  return createClient<paths>({
    baseUrl: options.url.replace(/\/+$/, ""),
    headers: { Authorization: `Bearer ${options.key}` },
    fetch: (request) => send(request, options.attempts ?? 4, options.waitAtMost ?? 30),
  });
}

/**
 * Make a call until it has an answer, or none is to be hoped for.
 *
 * 429 says that nothing was done. 503 and a lost connection do not: what changes something and
 * has no Idempotency-Key is not repeated then. Messages and notes get a key by themselves.
 */
async function send(request: Request, attempts: number, waitAtMost: number): Promise<Response> {
  const { pathname } = new URL(request.url);
  const isPost = request.method === "POST";
  if (isPost && TAKES_KEY.test(pathname) && !request.headers.has("Idempotency-Key")) {
    request.headers.set("Idempotency-Key", ids.randomUUID());
  }
  const repeatable =
    request.method === "GET" ||
    request.headers.has("Idempotency-Key") ||
    (isPost && ONLY_READS.test(pathname));
  for (let attempt = 1; ; attempt += 1) {
    let wait = 0.5 * 2 ** (attempt - 1);
    try {
      const answer = await fetch(request.clone(), { redirect: "manual" });
      const again = answer.status === 429 || (repeatable && answer.status === 503);
      const told = answer.headers.get("Retry-After");
      wait = told === null ? wait : Number(told);
      if (!again || attempt >= attempts || !(wait <= waitAtMost)) return answer;
      await answer.body?.cancel();
    } catch (error) {
      if (!repeatable || attempt >= attempts) throw error;
    }
    await sleep(wait);
  }
}

/** Return a job's state when it is done; throw when it never will be, or not within `timeout` s. */
export async function waitFor(
  client: MemoryClient,
  jobId: string,
  timeout = 60,
): Promise<Schemas["JobOutput"]> {
  const until = Date.now() + 1000 * timeout;
  for (let wait = 0.1; ; wait = Math.min(2 * wait, 2)) {
    const { data, error } = await client.GET("/api/v0/jobs/{job_id}", {
      params: { path: { job_id: jobId } },
    });
    if (!data) throw new Error(`The job ${jobId} cannot be asked for.`, { cause: error });
    if (data.state === "done") return data;
    if (data.state === "dead" || data.state === "cancelled") {
      throw new Error(`The job ${jobId} is ${data.state}.`, { cause: data });
    }
    if (Date.now() + 1000 * wait > until) throw new Error(`The job ${jobId} is ${data.state}.`);
    await sleep(wait);
  }
}

/** Yield the items of all pages; `read` makes the call of the page after one. */
export async function* items<T>(
  read: (after: string | undefined) => Promise<{ data?: { items: T[]; next: string | null } }>,
): AsyncGenerator<T> {
  let after: string | undefined;
  do {
    const { data } = await read(after);
    if (!data) throw new Error("A page cannot be read.");
    yield* data.items;
    after = data.next ?? undefined;
  } while (after !== undefined);
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
