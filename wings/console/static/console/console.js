// Draws the charts of the admin's own pages; the numbers lie in the page as JSON.
"use strict";

const COLOURS = {
  primary: "--color-primary-500", green: "--color-green-500", orange: "--color-orange-500",
  red: "--color-red-500", blue: "--color-blue-500", grey: "--color-base-400",
};

function readColour(name) {
  const value = getComputedStyle(document.documentElement).getPropertyValue(COLOURS[name] || name);
  return value.trim() || "gray";
}

function drawChart(canvas) {
  const chart = JSON.parse(document.getElementById(canvas.dataset.consoleChart).textContent);
  const round = chart.kind === "doughnut";
  const grid = readColour("--console-line");
  const datasets = chart.series.map((series) => {
    const colour = round
      ? chart.labels.map((_, at) => readColour(Object.keys(COLOURS)[at % 6]))
      : readColour(series.colour);
    return {
      label: series.name, data: series.values, borderColor: round ? readColour("--console-paper") : colour,
      backgroundColor: series.fill || chart.kind !== "line" ? colour : colour,
      fill: series.fill ? { target: "origin", above: `color-mix(in srgb, ${colour} 15%, transparent)` } : false,
      showLine: !series.points_only, pointRadius: series.points_only ? 5 : (series.values.length > 60 ? 0 : 2),
      borderWidth: 2, tension: 0.25, borderRadius: 3, maxBarThickness: 40,
    };
  });
  const ink = readColour("--console-ink");
  const whole = chart.series.every((series) => series.values.every((value) => Number.isInteger(value ?? 0)));
  const axis = { stacked: chart.stacked, ticks: { color: ink, maxRotation: 0, autoSkip: true }, grid: { color: grid } };
  return new Chart(canvas, {
    type: chart.kind,
    data: { labels: chart.labels, datasets },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false,
      interaction: { mode: round ? "nearest" : "index", intersect: round },
      scales: round ? {} : { x: { ...axis, grid: { display: false } },
        y: { ...axis, ticks: { ...axis.ticks, precision: whole ? 0 : undefined, maxTicksLimit: 6 }, beginAtZero: true, suggestedMax: chart.y_max ?? undefined,
             title: { display: Boolean(chart.unit), text: chart.unit, color: ink } } },
      plugins: { legend: { display: round || datasets.length > 1, labels: { color: ink, boxWidth: 12 } } },
      onClick: (_event, hit) => { const link = hit.length && chart.links[hit[0].index]; if (link) location = link; },
      onHover: (event, hit) => { event.native.target.style.cursor = hit.length && chart.links[hit[0].index] ? "pointer" : ""; },
    },
  });
}

document.addEventListener("DOMContentLoaded", () => {
  const canvases = [...document.querySelectorAll("[data-console-chart]")];
  let charts = canvases.map(drawChart);
  // The theme is switched without a reload: colours are read anew.
  new MutationObserver(() => {
    charts.forEach((chart) => chart.destroy());
    charts = canvases.map(drawChart);
  }).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-switcher]")) event.target.form.submit();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});

// A link to `#limit` opens that form.
document.addEventListener("DOMContentLoaded", () => {
  const asked = location.hash && document.getElementById(location.hash.slice(1));
  if (asked instanceof HTMLDetailsElement) asked.open = true;
});

// The palette: what was opened last stands there at first, and Enter takes the first line.
// The field is the source: what is typed meanwhile is asked after this answer, and stands last.
function showRecent() {
  const field = document.getElementById("search-input-command");
  if (!field || field.value) return;
  htmx.ajax("GET", field.getAttribute("hx-get"), {
    source: field, target: "#command-results", select: "#command-results-list", swap: "innerHTML",
  });
}
addEventListener("opencommand", showRecent);
document.addEventListener("keydown", (event) => {
  if (event.key === "k" && (event.ctrlKey || event.metaKey) && event.target.id !== "search-input-command") {
    document.activeElement.blur(); // The theme opens the palette only where no field has the focus.
    showRecent();
  }
  if (event.key !== "Enter" || event.target.id !== "search-input-command") return;
  const first = document.querySelector("#command-results-list a");
  if (!first || document.querySelector("#command-results-list .active")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  location = first.href;
}, true);

// A screen reader reads the theme's icons as words: "home Home". Where nothing else is a name, one is given.
function readName(node) {
  const copy = node.cloneNode(true);
  copy.querySelectorAll("kbd, .console-heard, .material-symbols-outlined").forEach((part) => part.remove());
  return copy.textContent.trim().replace(/\s+/g, " ");
}
const ICONS = { neurology: "Memory server", dock_to_right: "Menu", menu: "Menu", close: "Close" };
function hideIcons() {
  for (const icon of document.querySelectorAll(".material-symbols-outlined:not([aria-hidden])")) {
    const control = icon.closest("a, button, summary");
    if (control && !control.hasAttribute("aria-label") && !readName(control)) {
      const word = icon.textContent.trim();
      control.setAttribute("aria-label", control.title || ICONS[word] || word[0].toUpperCase() + word.slice(1).replaceAll("_", " "));
    }
    icon.setAttribute("aria-hidden", "true");
  }
}
document.addEventListener("DOMContentLoaded", () => {
  hideIcons();
  new MutationObserver(hideIcons).observe(document.body, { childList: true, subtree: true });
});

// "?" lists the keys that work on this page.
function listKeys() {
  const keys = [["?", "This list"], ["Ctrl+K", "Command palette: pages, facts, conversations, ids"]];
  if (document.getElementById("console-search")) keys.push(["/", "To the field of the search"]);
  for (const one of document.querySelectorAll("[data-key]")) {
    keys.push([one.dataset.key, one.getAttribute("aria-label") || readName(one.querySelector("summary") || one)]);
  }
  return keys;
}

function showKeys() {
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  const list = document.createElement("dl");
  const close = document.createElement("button");
  dialog.className = "console-keys";
  title.textContent = "Keyboard shortcuts";
  for (const [key, label] of listKeys()) {
    const term = list.appendChild(document.createElement("dt"));
    term.appendChild(document.createElement("kbd")).textContent = key;
    list.appendChild(document.createElement("dd")).textContent = label;
  }
  close.className = "console-button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, list, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  showKeys();
});

// Times are UTC as the server says them; a button shows them by the clock of this browser.
const UTC = /\b(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)\b/;
function wrapTimes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (UTC.test(walker.currentNode.data) && !walker.currentNode.parentElement.closest("script, textarea, pre, code, q, .console-quote")) nodes.push(walker.currentNode);
  }
  for (let node of nodes) {
    for (let found = UTC.exec(node.data); found; found = UTC.exec(node.data)) {
      const time = document.createElement("span");
      const rest = node.splitText(found.index);
      node = rest.splitText(found[0].length);
      time.dataset.utc = found[0];
      time.textContent = found[0];
      rest.replaceWith(time);
    }
  }
}
function showTimes(local) {
  for (const time of document.querySelectorAll("[data-utc]")) {
    const at = new Date(`${time.dataset.utc.replace(" ", "T")}Z`);
    const here = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().replace("T", " ");
    time.textContent = local ? here.slice(0, time.dataset.utc.length) : time.dataset.utc;
    time.title = local ? `${time.dataset.utc} UTC` : "UTC";
  }
  for (const button of document.querySelectorAll("[data-zone]")) {
    button.textContent = local ? "Local" : "UTC";
    button.setAttribute("aria-pressed", String(local));
  }
}
document.addEventListener("DOMContentLoaded", () => {
  const content = document.getElementById("content");
  if (content && document.querySelector("[data-zone]")) wrapTimes(content);
  showTimes(localStorage.getItem("console-zone") === "local");
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-zone]")) return;
  const local = localStorage.getItem("console-zone") !== "local";
  localStorage.setItem("console-zone", local ? "local" : "utc");
  showTimes(local);
});

// A form that was sent after the session had ended is filled in again after the login.
const DRAFT = "console-draft";
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.closest("#login-form") || form.querySelector("[type=password], [type=file]")) return;
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
  const draft = { page: location.pathname + location.search, action: form.getAttribute("action") || "", fields };
  sessionStorage.setItem(DRAFT, JSON.stringify(draft));
});
document.addEventListener("DOMContentLoaded", () => {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT) || "null");
  const next = document.querySelector("input[type=hidden][name=next]");
  if (!draft) return;
  if (document.getElementById("login-form")) {
    if (next) next.value = draft.page;
    draft.ended = true;
    sessionStorage.setItem(DRAFT, JSON.stringify(draft));
    return;
  }
  sessionStorage.removeItem(DRAFT);
  const forms = [...document.forms].filter((form) => form.method === "post" && (form.getAttribute("action") || "") === draft.action);
  if (!draft.ended || !forms.length || location.pathname + location.search !== draft.page) return;
  const kept = forms.find((form) => draft.fields.every(([name, value]) => form.elements[name]?.type !== "hidden" || form.elements[name].value === value)) || forms[0];
  for (const [name, value] of draft.fields) {
    for (const field of kept.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (field.type === "radio" || field.type === "checkbox") field.checked = field.checked || field.value === value;
      else if (field.type !== "hidden") field.value = value;
    }
  }
  const folded = kept.closest("details");
  if (folded) folded.open = true;
  const note = document.createElement("p");
  note.className = "console-banner";
  note.setAttribute("role", "status");
  note.textContent = "Your session had ended. Nothing was lost, and nothing sent: look at the form and send it again.";
  kept.prepend(note);
  kept.scrollIntoView({ block: "center" });
});
