// Writes an import batch after batch while its page is open. Without it there is a button.
"use strict";

async function writeOn(form) {
  const fault = form.querySelector("[data-import-fault]");
  const button = form.querySelector("button");
  const bar = document.querySelector("[data-import-bar]");
  button.hidden = true;
  fault.hidden = true;
  try {
    for (;;) {
      const answer = await fetch(form.action, {
        method: "POST", body: new FormData(form), headers: { Accept: "application/json" }, redirect: "error",
      });
      const progress = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error(progress.fault ?? `the server answered ${answer.status}`);
      bar.value = progress.done;
      document.querySelector("[data-import-done]").textContent = progress.done;
      if (progress.state !== "running") break;
    }
    location.reload();
  } catch (error) {
    fault.textContent = `It stopped: ${error.message}. What was written stays; go on when you like.`;
    fault.hidden = false;
    button.hidden = false;
  }
}

// The theme looks for a text field to write a chosen file's name into; here is none.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-import-file]")) event.stopImmediatePropagation();
}, true);

document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-import-step]");
  if (!form) return;
  form.addEventListener("submit", (event) => { event.preventDefault(); writeOn(form); });
  writeOn(form);
});
