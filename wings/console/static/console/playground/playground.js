// The playground: lines between the columns, the slider, and copying. Without it the
// page says the same, by colours and as a table.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function drawLines(pipeline) {
  const lines = pipeline.querySelector("[data-pipeline-lines]");
  const frame = pipeline.getBoundingClientRect();
  const columns = [...pipeline.querySelectorAll("[data-pipeline-column]")];
  const last = new Map();
  lines.replaceChildren();
  columns.forEach((column) => {
    // Both legs lead to where they are fused: neither leads to the other.
    const isLeg = ["lexical", "vector"].includes(column.dataset.pipelineColumn);
    for (const card of column.querySelectorAll("[data-memory]")) {
      const key = card.dataset.memory;
      const before = last.get(key) || [];
      if (!isLeg) before.forEach((from) => lines.append(makeLine(from, card, frame)));
      last.set(key, isLeg ? [...before, card] : [card]);
    }
  });
}

function makeLine(from, to, frame) {
  const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
  const [x1, y1] = [a.right - frame.left, a.top + a.height / 2 - frame.top];
  const [x2, y2] = [b.left - frame.left, b.top + b.height / 2 - frame.top];
  const bend = Math.min(40, (x2 - x1) / 2);
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`);
  line.dataset.memory = to.dataset.memory;
  line.setAttribute("class", [...to.classList].find((name) => name.startsWith("hue-")) || "cut");
  return line;
}

function follow(pipeline, key) {
  pipeline.classList.toggle("following", Boolean(key));
  for (const one of pipeline.querySelectorAll("[data-memory]")) {
    one.classList.toggle("followed", one.dataset.memory === key);
  }
}

function watchPipeline(pipeline) {
  const find = (event) => event.target.closest("a[data-memory]")?.dataset.memory;
  ["mouseover", "focusin"].forEach((name) => pipeline.addEventListener(name, (event) => follow(pipeline, find(event))));
  ["mouseleave", "focusout"].forEach((name) => pipeline.addEventListener(name, () => follow(pipeline, null)));
  new ResizeObserver(() => drawLines(pipeline)).observe(pipeline);
}

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
  document.querySelectorAll("[data-pipeline]").forEach(watchPipeline);
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
