/** Tools and middleware in the real `ai` package: a live server, and a model that follows a script. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, wrapLanguageModel } from "ai";

import { memoryMiddleware, memoryTools, type Memory } from "../src/ai.ts";
import { connect, waitFor } from "../src/index.ts";

const client = connect({
  url: process.env["MEMORY_URL"] ?? "",
  key: process.env["MEMORY_KEY"] ?? "",
});

function newMemory(userId: string): Memory {
  const onError = (error: unknown) => assert.fail(String(error));
  return { client, userId, conversationId: randomUUID(), onError };
}

type Message = { content?: string; tool_calls?: object[] };

/** Run with a model behind OpenAI's API that gives these answers; return what it was asked. */
async function scripted(
  answers: Message[],
  run: (model: ReturnType<ReturnType<typeof createOpenAICompatible>>) => Promise<void>,
): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await read(request);
    asked.push(body);
    const message = answers.shift();
    if (!message) return void response.writeHead(500).end();
    const answer = { id: "1", created: 1, model: "scripted", object: "chat.completion" };
    const ended = { index: 0, finish_reason: message.tool_calls ? "tool_calls" : "stop" };
    if (!JSON.parse(body).stream) {
      response.writeHead(200, { "Content-Type": "application/json" });
      const choices = [{ ...ended, message: { role: "assistant", content: null, ...message } }];
      return void response.end(JSON.stringify({ ...answer, choices }));
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const word of (message.content ?? "").split(/(?<= )/)) {
      const choices = [{ index: 0, delta: { role: "assistant", content: word } }];
      response.write(`data: ${JSON.stringify({ ...answer, choices })}\n\n`);
    }
    const last = { ...answer, choices: [{ ...ended, delta: {} }] };
    response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await run(createOpenAICompatible({ name: "scripted", baseURL })("scripted"));
  } finally {
    server.closeAllConnections();
    server.close();
  }
  assert.equal(answers.length, 0, "the model was asked less often than scripted");
  return asked;
}

async function read(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const part of request) body += part;
  return body;
}

async function listMessages(memory: Memory): Promise<string[]> {
  const { data } = await client.GET("/api/v0/messages", {
    params: { query: { conversation_id: memory.conversationId } },
  });
  return (data?.items ?? []).map((message) => `${message.role}: ${message.content}`);
}

test("what one chat says the model reads in the next, generated or streamed", async () => {
  const userId = randomUUID();
  const [monday, friday] = [newMemory(userId), newMemory(userId)];
  const said = "I moved from Lisbon to Porto last week.";
  const asked = await scripted([{ content: "Nice!" }, { content: "In Porto." }], async (model) => {
    const first = wrapLanguageModel({ model, middleware: memoryMiddleware(monday) });
    assert.equal((await generateText({ model: first, prompt: said })).text, "Nice!");
    const { data } = await client.POST("/api/v0/conversations/{conversation_id}/close", {
      params: { path: { conversation_id: monday.conversationId } },
    });
    await waitFor(client, data!.job_id);
    const second = wrapLanguageModel({ model, middleware: memoryMiddleware(friday) });
    const answer = streamText({ model: second, prompt: "Where do I live?" });
    assert.equal(await answer.text, "In Porto.");
  });
  assert.equal(asked[0]?.split("Porto").length, 2); // the user's own message alone
  assert.equal(JSON.parse(asked[1]!).messages[0].role, "system");
  assert.match(JSON.parse(asked[1]!).messages[0].content, /Porto/);
  assert.deepEqual(await listMessages(monday), [`user: ${said}`, "assistant: Nice!"]);
  const later = await listMessages(friday);
  assert.deepEqual(later, ["user: Where do I live?", "assistant: In Porto."]);
});

test("a model calls the tools, and the middleware stores each message once", async () => {
  const memory = newMemory(randomUUID());
  const call = (name: string, input: object) => ({
    tool_calls: [
      { id: name, type: "function", function: { name, arguments: JSON.stringify(input) } },
    ],
  });
  const script = [
    call("remember", { content: "The boat's key hangs behind the door." }),
    call("recall", { query: "Where is the boat's key?" }),
    { content: "Behind the door." },
  ];
  const asked = await scripted(script, async (model) => {
    const { text } = await generateText({
      model: wrapLanguageModel({ model, middleware: memoryMiddleware(memory) }),
      tools: memoryTools(memory),
      stopWhen: isStepCount(3),
      prompt: "Keep where the boat's key is, then tell me.",
    });
    assert.equal(text, "Behind the door.");
  });
  assert.match(JSON.parse(asked[1]!).messages.at(-1).content, /Stored as note/);
  assert.match(JSON.parse(asked[2]!).messages.at(-1).content, /hangs behind the door/);
  const said = "user: Keep where the boat's key is, then tell me.";
  assert.deepEqual(await listMessages(memory), [said, "assistant: Behind the door."]);
});

test("without the server the model answers all the same, and somebody is told", async () => {
  const errors: unknown[] = [];
  const away = connect({ url: "http://127.0.0.1:9", key: "none", attempts: 1 });
  const memory = { ...newMemory("ana"), client: away, onError: (e: unknown) => errors.push(e) };
  await scripted([{ content: "Hello." }], async (model) => {
    const wrapped = wrapLanguageModel({ model, middleware: memoryMiddleware(memory) });
    assert.equal((await generateText({ model: wrapped, prompt: "Hi" })).text, "Hello.");
  });
  assert.equal(errors.length, 2); // what was to be read, and what was to be stored
});
