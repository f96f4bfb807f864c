// Lights up the messages of a fact, and the facts of a message; tells the time of the slider.
"use strict";

function partnersOf(element) {
  const learnt = element.closest(".learnt");
  if (learnt) {
    const seqs = learnt.dataset.seqs.trim().split(/\s+/).filter(Boolean);
    return seqs.map((seq) => document.getElementById(`m${seq}`)).filter(Boolean);
  }
  const said = element.closest(".said.told");
  if (!said) return [];
  const facts = said.closest(".block-body")?.querySelectorAll(".learnt") ?? [];
  return [...facts].filter((fact) => fact.dataset.seqs.split(" ").includes(said.dataset.seq));
}

function lightUp(event) {
  document.querySelectorAll(".talk .lit").forEach((one) => one.classList.remove("lit"));
  if (event.target instanceof Element) partnersOf(event.target).forEach((one) => one.classList.add("lit"));
}

function watchSlider(form) {
  const slide = form.querySelector("input[type=range]");
  const field = document.querySelector("[data-time-field]");
  slide.addEventListener("input", () => {
    const iso = new Date(Number(slide.value)).toISOString().slice(0, 19);
    slide.setAttribute("aria-valuetext", `${iso.replace("T", " ")} UTC`);
    if (field) field.value = iso;
  });
  // A hand that lets go has chosen; arrow keys go on until Enter.
  slide.addEventListener("pointerup", () => setTimeout(() => form.requestSubmit()));
  slide.addEventListener("keydown", (event) => { if (event.key === "Enter") form.requestSubmit(); });
}

document.querySelectorAll(".talk").forEach((talk) => {
  talk.addEventListener("mouseover", lightUp);
  talk.addEventListener("focusin", lightUp);
});
document.querySelectorAll("[data-time-slider]").forEach(watchSlider);
