// The lines of a drawn graph: the style sheet places the boxes, this draws links between them.
// The table below the picture has every link in words.
"use strict";

const NAMED_AT_MOST = 16; // lines beside those of the trees: names of more would cover the picture

function makeShape(parent, name, attributes) {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => shape.setAttribute(key, value));
  parent.append(shape);
  return shape;
}

function makeTip(svg, tone) {
  const marker = makeShape(svg, "marker", {
    id: `tip-${tone}`, class: tone, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse",
  });
  makeShape(marker, "path", { d: "M0 .5 L8 4 L0 7.5 Z" });
}

function boxOf(element, frame) {
  const box = element.getBoundingClientRect();
  const [left, right] = [box.left - frame.left, box.right - frame.left];
  const [top, bottom] = [box.top - frame.top, box.bottom - frame.top];
  return { left, right, top, bottom, x: (left + right) / 2, y: (top + bottom) / 2 };
}

// Four points of a Bézier curve: across the gap, beside one column, or around what lies between.
function findCurve(a, b, frame, gap) {
  const apart = Math.max(a.left, b.left) - Math.min(a.right, b.right);
  if (apart < 0) {
    const [x, out] = a.x > frame.width / 2 ? [Math.max(a.right, b.right), 1] : [Math.min(a.left, b.left), -1];
    const bend = x + out * Math.min(22, 14 + Math.abs(a.y - b.y) / 14);
    return [[x, a.y], [bend, a.y], [bend, b.y], [x, b.y]];
  }
  if (apart > 1.5 * gap) {
    const below = a.y + b.y > frame.height;
    const [from, to, rim] = below ? [a.bottom, b.bottom, frame.height - 12] : [a.top, b.top, 12];
    const near = below ? Math.max(from, to) : Math.min(from, to);
    const reach = rim + (rim - near) / 3; // a curve goes three quarters of its way
    return [[a.x, from], [a.x, reach], [b.x, reach], [b.x, to]];
  }
  const [start, end] = a.x < b.x ? [a.right, b.left] : [a.left, b.right];
  const middle = (start + end) / 2;
  return [[start, a.y], [middle, a.y], [middle, b.y], [end, b.y]];
}

function drawLines(graph, lines) {
  const svg = graph.querySelector("[data-graph-lines]");
  const frame = graph.getBoundingClientRect();
  const boxes = new Map([...graph.querySelectorAll("[data-memory]")].map((node) => [node.dataset.memory, boxOf(node, frame)]));
  const gap = parseFloat(getComputedStyle(graph).getPropertyValue("--gap")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const named = lines.filter((line) => line.name).length <= NAMED_AT_MOST;
  svg.replaceChildren();
  ["derived", "drawn", "against"].forEach((tone) => makeTip(svg, tone));
  for (const line of lines) {
    const [a, b, c, d] = findCurve(boxes.get(line.from), boxes.get(line.to), frame, gap);
    const tip = `url(#tip-${line.tone})`;
    makeShape(svg, "path", {
      class: `${line.tone}${line.name ? " across" : ""}`, d: `M${a} C${b} ${c} ${d}`,
      ...(line.starts && { "marker-start": tip }), ...(line.ends && { "marker-end": tip }),
    });
    const [x, y] = [0, 1].map((at) => (a[at] + 3 * b[at] + 3 * c[at] + d[at]) / 8);
    const half = 2.8 * line.name.length;
    const covers = ({ left, right, top, bottom }) => x + half > left && x - half < right && y + 6 > top && y - 6 < bottom;
    if (line.name && named && ![...boxes.values()].some(covers)) {
      makeShape(svg, "text", { x, y, dy: ".3em" }).textContent = line.name;
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const graph = document.querySelector("[data-graph]");
  if (!graph) return;
  const lines = JSON.parse(document.getElementById("graph-lines").textContent);
  new ResizeObserver(() => drawLines(graph, lines)).observe(graph);
});
