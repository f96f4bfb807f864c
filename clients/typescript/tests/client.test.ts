/** The client against a live server (see clients/live.py), and one that answers by a script. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { connect, items, waitFor } from "../src/index.ts";

const url = process.env["MEMORY_URL"] ?? "";
const key = process.env["MEMORY_KEY"] ?? "";
const memory = connect({ url, key });

test("what was said comes back as text and as typed facts", async () => {
  const conversation_id = randomUUID();
  const content = "I moved from Lisbon to Porto last week.";
  const stored = await memory.POST("/api/v0/add_messages", {
    body: { conversation_id, messages: [{ role: "user", name: "Ana", content }] },
  });
  assert.equal(stored.data?.messages[0]?.seq, 1);
  const flushed = await memory.POST("/api/v0/flush", { body: { conversation_id } });
  assert.ok(flushed.data);
  assert.equal((await waitFor(memory, flushed.data.job_id)).kind, "flush");
  const text = await memory.POST("/api/v0/retrieve_memory", {
    body: { conversation_id, query: "Where does Ana live?", max_tokens: 500 },
    parseAs: "text",
  });
  assert.match(String(text.data), /Porto/);
  assert.ok(text.response.headers.get("Memory-Receipt"));
  const read = (after: string | undefined) =>
    memory.GET("/api/v0/facts", {
      params: { query: { conversation_id, limit: 1, ...(after && { after }) } },
    });
  const facts = await Array.fromAsync(items(read));
  assert.ok(facts.some((fact) => fact.fact.includes("Porto")));
});

test("a question is typed, and refused where the server has no model", async () => {
  const { data, error, response } = await memory.POST("/api/v0/ask", {
    body: { scope: "tenant", query: "Where does Ana live?" },
  });
  const told = typeof data === "string" ? undefined : data; // with `stream` it is text
  const quotes: string[] | undefined = told?.sentences.flatMap((one) =>
    one.citations.map((cited) => cited.quote),
  );
  assert.equal(quotes, undefined);
  assert.equal(response.status, 409);
  assert.match(String(error?.message), /MEMORY_LLM/);
});

test("the program of the README prints what the server knows", async () => {
  const folder = join(import.meta.dirname, "..");
  const readme = await readFile(join(folder, "README.md"), "utf8");
  const program = /```js\n(.*?)```/s.exec(readme)?.[1] ?? "";
  const file = join(folder, `first-${randomUUID()}.mjs`);
  await writeFile(file, program);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    assert.match(stdout, /Porto/);
  } finally {
    await rm(file);
  }
});

test("an error has the one shape", async () => {
  const reader = connect({ url, key: process.env["MEMORY_READER_KEY"] ?? "" });
  const { error, response } = await reader.POST("/api/v0/notes", { body: { content: "x" } });
  assert.equal(response.status, 403);
  assert.equal(error?.code, "permission_denied");
});

async function scripted(answers: number[], call: (url: string) => Promise<unknown>) {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"] as string | undefined);
    const status = answers.shift() ?? 500;
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, { "Content-Type": "application/json", "Retry-After": "0" });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await call(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return keys;
}

for (const lost of [429, 503, 0]) {
  test(`after ${lost || "a lost connection"} a note is sent again by the same key`, async () => {
    const keys = await scripted([lost, 201], (address) =>
      connect({ url: address, key }).POST("/api/v0/notes", { body: { content: "x" } }),
    );
    assert.equal(keys.length, 2);
    assert.ok(keys[0] && keys[0] === keys[1]);
  });
}

test("a batch of notes is sent again by the same key", async () => {
  const keys = await scripted([503, 201], (address) =>
    connect({ url: address, key }).POST("/api/v0/notes/batch", {
      body: { notes: [{ content: "x" }] },
    }),
  );
  assert.ok(keys.length === 2 && keys[0] && keys[0] === keys[1]);
});

test("what changes something without a key is not sent twice", async () => {
  const flush = (address: string) =>
    connect({ url: address, key }).POST("/api/v0/flush", {
      body: { conversation_id: randomUUID() },
    });
  assert.equal((await scripted([503], flush)).length, 1);
  await assert.rejects(scripted([0], flush));
});
