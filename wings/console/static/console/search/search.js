// "/" leads to the field of the search, wherever one is on the page but not in a field.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.getElementById("console-search");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
