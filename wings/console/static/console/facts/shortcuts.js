// A key opens the form, or follows the link or presses the button, that has it in `data-key`.
"use strict";

const FIELDS = "input:not([type=hidden]), select, textarea";

function isTyping(target) {
  return target instanceof Element && Boolean(target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]"));
}

// Enter is also the key of what has the focus.
function isPressing(event) {
  return event.key === "Enter" && (event.repeat || Boolean(event.target.closest("a, button, summary")));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = document.querySelector("details[data-key][open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
    return;
  }
  if (isTyping(event.target) || isPressing(event)) return;
  const found = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!found) return;
  event.preventDefault();
  if (!(found instanceof HTMLDetailsElement)) {
    found.click();
    return;
  }
  found.open = true;
  found.querySelector(FIELDS).focus();
});

// A link to `#correct` opens that form.
const asked = document.getElementById(location.hash.slice(1));
if (asked && asked.matches("details[data-key]")) asked.open = true;
