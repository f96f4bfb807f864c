// The playground: the slider, and copying.
"use strict";

function watchForm(form) {
  const slider = form.querySelector("[data-playground-slider]");
  const number = document.getElementById(slider.dataset.playgroundSlider);
  slider.addEventListener("input", () => { number.value = slider.value === "0" ? "" : slider.value; });
  slider.addEventListener("change", () => { if (form.elements.query.value.trim()) form.requestSubmit(); });
  number.addEventListener("input", () => { slider.value = Number(number.value) || 0; });
  // Empty fields would only lengthen an address that is passed on.
  form.addEventListener("submit", () => {
    for (const field of form.elements) {
      if (field.name && field.name !== "query" && !field.value) field.disabled = true;
    }
  });
}

async function copy(button) {
  const source = document.getElementById(button.dataset.playgroundCopy);
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    const details = source.closest("details");
    if (details) details.open = true;
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-playground-form]").forEach(watchForm);
});
// Not of the buttons themselves: Try it replaces them.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-playground-copy]");
  if (button) copy(button);
});
// A page that the browser brings back still has the fields that were left out disabled.
addEventListener("pageshow", () => {
  document.querySelectorAll("[data-playground-form] :disabled").forEach((field) => { field.disabled = false; });
});
