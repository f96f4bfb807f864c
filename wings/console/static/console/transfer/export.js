// Counts again when the choice of rows changes.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-export-form]");
  if (!form) return;
  for (const name of ["table", "state"]) {
    form.elements[name].addEventListener("change", () => {
      if (name === "table") form.elements.state.value = "";
      form.requestSubmit();
    });
  }
});
