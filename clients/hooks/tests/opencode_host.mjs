// Plays OpenCode: loads the plugin beside it, and goes through a session's prompts and answers.
import { Memory } from "./memory.mjs"

const [directory, id, ...said] = process.argv.slice(2)
const messages = []
const client = { session: { messages: async () => ({ data: messages }) } }
const hooks = await Memory({ client, directory })
const told = []

for (let at = 0; at < said.length; at += 2) {
  const parts = [{ type: "text", text: said[at] }]
  messages.push({ info: { role: "user" }, parts })
  await hooks["chat.message"]({ sessionID: id }, { message: { id: `msg-${at}` }, parts })
  const system = []
  await hooks["experimental.chat.system.transform"]({ sessionID: id, model: {} }, { system })
  told.push(system)
  messages.push({ info: { role: "assistant" }, parts: [{ type: "text", text: said[at + 1] }] })
  if (at + 2 < said.length) await hooks.event({ event: { type: "session.idle", properties: { sessionID: id } } })
}
await hooks["experimental.session.compacting"]({ sessionID: id }, { context: [] })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: id } } })
await hooks.dispose()
console.log(JSON.stringify(told))
