// Calls the memory hook at OpenCode's events; install.py copies this file and names the command.
import { spawn } from "node:child_process"

const COMMAND = [/* install.py writes the command here */]

/** Writes an event to the hook; resolves to the context it answers with, or "". */
function call(event) {
  return new Promise((resolve) => {
    const hook = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: 10_000 })
    let answer = ""
    hook.stdout.on("data", (data) => (answer += data))
    hook.on("error", () => resolve(""))
    hook.on("close", () => {
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify(event))
  })
}

const join = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\n")

export const Memory = async ({ client, directory }) => {
  const started = new Map()
  const known = new Map()
  const tell = (name, id, fields = {}) => call({ hook_event_name: name, session_id: id, cwd: directory, ...fields })
  const start = (id) => started.get(id) ?? started.set(id, tell("SessionStart", id)).get(id)

  async function answered(id) {
    const { data } = await client.session.messages({ path: { id } })
    const last = (data ?? []).findLast((one) => one.info.role === "assistant")
    const text = last ? join(last.parts) : ""
    if (text) await tell("Stop", id, { last_assistant_message: text })
  }

  return {
    async "chat.message"({ sessionID }, { parts }) {
      await start(sessionID)
      const prompt = join(parts)
      if (prompt) known.set(sessionID, await tell("UserPromptSubmit", sessionID, { prompt }))
    },
    async "experimental.chat.system.transform"({ sessionID }, { system }) {
      if (!started.has(sessionID)) return
      system.push(...[await started.get(sessionID), known.get(sessionID)].filter(Boolean))
    },
    async "experimental.session.compacting"({ sessionID }) {
      await answered(sessionID)
    },
    async event({ event }) {
      if (event.type === "session.idle" && started.has(event.properties.sessionID)) {
        await answered(event.properties.sessionID)
      }
    },
    async dispose() {
      await Promise.all([...started.keys()].map((id) => tell("SessionEnd", id)))
    },
  }
}
