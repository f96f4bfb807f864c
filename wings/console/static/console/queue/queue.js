// Moves among the cards of the review queue, sends what is decided without loading the page anew,
// and fetches more cards before they run out.
"use strict";

const LEAST = 10; // Open cards below which more are fetched.
const queue = document.getElementById("queue");
let current = null;
let fetching = false;
let sent = 0; // Decisions sent, and those of them that are not answered yet.
let pending = 0;

function listCards() {
  return [...queue.querySelectorAll("[data-card]:not([inert])")];
}

function readCount(name) {
  return document.querySelector(`[data-count="${name}"]`);
}

// The keys are those of one card.
function select(card) {
  if (current) {
    current.classList.remove("queue-current");
    for (const one of current.querySelectorAll("[data-queue-key]")) delete one.dataset.key;
  }
  current = card || null;
  if (!current) return;
  current.classList.add("queue-current");
  for (const one of current.querySelectorAll("[data-queue-key]")) one.dataset.key = one.dataset.queueKey;
}

function goTo(card) {
  select(card);
  if (!card) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const cards = listCards();
  goTo(cards[Math.min(Math.max(cards.indexOf(current) + step, 0), cards.length - 1)]);
}

async function send(form, button) {
  const body = new FormData(form, button);
  try {
    const answer = await fetch(form.action, {
      method: "POST", body, headers: { "X-Requested-With": "fetch" }, redirect: "error",
    });
    if (answer.ok || answer.status === 400) return [answer.ok, await answer.text()];
  } catch { /* The session or the server is away: said below. */ }
  return [false, '<p class="act-error" role="alert">This was not sent: load the page anew.</p>'];
}

async function decide(card, form, button) {
  const cards = listCards();
  const at = cards.indexOf(card);
  const answer = send(form, button);
  sent += 1;
  pending += 1;
  card.inert = true;
  goTo(cards[at + 1] || cards[at - 1]);
  fetchMore();
  const [isDone, text] = await answer;
  pending -= 1;
  if (!isDone) {
    card.querySelector(".act-error")?.remove();
    card.insertAdjacentHTML("afterbegin", text);
    card.inert = false;
    goTo(card);
    return;
  }
  document.querySelector("main > .fact-done")?.remove();
  for (const one of queue.querySelectorAll("[data-done]")) one.replaceChildren(); // Its id stays known.
  card.innerHTML = text;
  card.className = "";
  card.removeAttribute("data-card");
  card.dataset.done = "";
  card.inert = false;
  const isAnswer = card.querySelector("form") && button.value !== "correct";
  const steps = { left: -1, ...(isAnswer ? { mine: 1, team: 1 } : {}) };
  for (const [name, step] of Object.entries(steps)) {
    if (readCount(name)) readCount(name).textContent = Number(readCount(name).textContent) + step;
  }
  fetchMore();
}

// At the end it fetches what the server counts then.
async function fetchMore() {
  const open = listCards().length;
  const left = Number(readCount("left")?.textContent ?? 0);
  if (fetching || open > LEAST || (left <= open + pending && open + pending)) return;
  fetching = true;
  const known = pending ? -1 : sent;
  try {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const progress = page.getElementById("queue-progress");
    if (progress && known === sent) document.getElementById("queue-progress").replaceWith(progress);
    for (const card of page.querySelectorAll("[data-card]")) {
      if (!document.getElementById(card.id)) queue.append(card);
    }
    if (!current) goTo(listCards()[0]);
  } catch { /* It is tried again after the next decision. */
  } finally {
    fetching = false;
  }
}

queue.addEventListener("submit", (event) => {
  const card = event.target.closest("[data-card]");
  if (!card || !event.target.matches("[data-queue-form]")) return;
  event.preventDefault();
  decide(card, event.target, event.submitter);
});

queue.addEventListener("focusin", (event) => {
  const card = event.target.closest("[data-card]");
  if (card && card !== current) select(card);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (button) move(Number(button.dataset.step));
});

// A digit chooses one fact alone; more than one are chosen by mouse or space bar.
document.addEventListener("keydown", (event) => {
  if (!current || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const boxes = [...current.querySelectorAll("[name=holds]")];
  if (!boxes[event.key - 1]) return;
  event.preventDefault();
  boxes.forEach((box, place) => { box.checked = place === event.key - 1; });
});

document.querySelector("[data-queue-steps]").hidden = false;
select(listCards()[0]);
