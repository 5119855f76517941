// The board: shows a drawing, lights up what can be chosen, and tells what is clicked or pressed.
// An element's key is `field:12` or `stone:2-5`, as the server's steps have it.

import { at, shape } from "./page.js";

const board = at("board");
const narrow = window.matchMedia("(max-width: 820px)");
let shown = null; // the state whose drawing stands there
let lit = []; // the elements that can be chosen

export function keyOf(element) {
  if (element.dataset.field !== undefined) return `field:${element.dataset.field}`;
  if (element.dataset.stone !== undefined) return `stone:${element.dataset.stone}`;
  return null;
}

export function find(key) {
  const [kind, name] = key.split(":");
  return board.querySelector(`[data-${kind}="${name}"]`);
}

// Drawing

export function draw(state) {
  shown = state;
  lit = [];
  const whole = parse(state.svg);
  const parts = narrow.matches && state.cut !== null ? cut(whole, state.cut) : [whole];
  board.replaceChildren(...parts);
}

function parse(text) {
  const drawing = document.importNode(
    new DOMParser().parseFromString(text, "image/svg+xml").documentElement,
    true,
  );
  // Its elements are buttons here, and its title would be a tooltip everywhere.
  const title = drawing.querySelector("title");
  drawing.setAttribute("preserveAspectRatio", "xMidYMin meet");
  drawing.setAttribute("role", "group");
  drawing.setAttribute("aria-label", title.textContent);
  title.remove();
  return drawing;
}

// On a narrow screen the part beside the table stands below it.
function cut(whole, x) {
  const [, , width, height] = whole.getAttribute("viewBox").split(" ").map(Number);
  const beside = whole.cloneNode(true);
  for (const [part, left, right] of [[whole, 0, x], [beside, x, width]]) {
    part.setAttribute("viewBox", `${left} 0 ${right - left} ${height}`);
    part.setAttribute("width", right - left);
    part.setAttribute("height", height);
  }
  for (const element of whole.querySelectorAll("[data-stone]")) element.removeAttribute("data-stone");
  for (const element of beside.querySelectorAll("[data-field], defs")) element.remove();
  return [whole, beside];
}

narrow.addEventListener("change", () => {
  if (shown === null) return;
  draw(shown);
  board.dispatchEvent(new Event("redrawn"));
});

// Marks

// `choices` maps keys to `{label, ends}`: whether the action is complete with it.
export function light(choices, chosen, hinted) {
  for (const element of board.querySelectorAll(".mark-group")) element.remove();
  for (const element of lit) {
    element.classList.remove("lit");
    for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name);
  }
  lit = [];
  for (const [key, { label, ends }] of choices) {
    const element = find(key);
    if (element === null) continue;
    element.classList.add("lit");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", label);
    element.setAttribute("tabindex", lit.length ? -1 : 0);
    lit.push(element);
    mark(element, key.startsWith("stone") ? "frame" : !ends ? "origin" : isTaken(key) ? "ring" : "dot");
  }
  for (const key of hinted) if (find(key)) mark(find(key), "hinted");
  for (const key of chosen) if (find(key)) mark(find(key), "chosen");
}

function isTaken(key) {
  return shown.taken.includes(Number(key.split(":")[1]));
}

function mark(element, kind) {
  const { x, y, width, height } = element.getBBox();
  const size = Math.min(width, height);
  const group = shape("g", { class: "mark-group" });
  const transform = element.getAttribute("transform");
  if (transform) group.setAttribute("transform", transform);
  const add = (name, attributes, ...classes) => {
    for (const extra of classes) group.append(shape(name, { ...attributes, class: `mark ${extra}` }));
  };
  const middle = { cx: x + width / 2, cy: y + height / 2 };
  if (kind === "dot") add("circle", { ...middle, r: size / 8 }, "dot");
  if (kind === "ring") add("circle", { ...middle, r: size * 0.42 }, "casing", "ring");
  if (kind === "origin") add("path", { d: corners(x + 2.5, y + 2.5, width - 5, height - 5) }, "casing", "origin");
  if (kind === "frame") add("rect", { x, y, width, height, rx: size / 6 }, "frame");
  if (kind === "chosen" || kind === "hinted") {
    const frame = { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: size / 8 };
    add("rect", frame, "casing", kind);
  }
  element.ownerSVGElement.append(group);
}

function corners(x, y, width, height) {
  const reach = Math.min(width, height) / 4;
  const paths = [];
  for (const [across, dx] of [[x, reach], [x + width, -reach]]) {
    for (const [down, dy] of [[y, reach], [y + height, -reach]]) {
      paths.push(`M${across} ${down + dy}V${down}H${across + dx}`);
    }
  }
  return paths.join("");
}

// Focus

function middleOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

export function hasFocus() {
  return board.contains(document.activeElement);
}

// Give the focus to what is lit, the nearest to a point where one is known; false if nothing is.
export function focusLit(point) {
  if (lit.length === 0) return false;
  const distance = (element) => Math.hypot(...middleOf(element).map((at, axis) => at - point[axis]));
  const nearest = point ? lit.reduce((a, b) => (distance(b) < distance(a) ? b : a)) : lit[0];
  focus(nearest);
  return true;
}

export function focusBoard() {
  board.focus({ preventScroll: true });
}

function focus(element) {
  for (const other of lit) other.setAttribute("tabindex", other === element ? 0 : -1);
  element.focus();
}

// Bring what can be chosen into sight, if most of it is not.
export function reveal() {
  const inSight = lit.filter((element) => {
    const [, y] = middleOf(element);
    return y > 110 && y < window.innerHeight - 10;
  });
  if (2 * inSight.length < lit.length) lit[lit.length >> 1].scrollIntoView({ block: "center" });
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The nearest lit element in a direction, those beside the way counting as farther.
function neighbour(element, [dx, dy]) {
  const [x, y] = middleOf(element);
  let best = null;
  let least = Infinity;
  for (const other of lit) {
    const [otherX, otherY] = middleOf(other);
    const along = (otherX - x) * dx + (otherY - y) * dy;
    const aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
    const cost = along + 2 * aside;
    if (along > 1 && cost < least) [best, least] = [other, cost];
  }
  return best;
}

// What a player does: `press(key, keyboard, point)`, `cancel()`

export function listen(press, cancel) {
  board.addEventListener("click", (event) => {
    const element = event.target.closest("[data-field], [data-stone]");
    if (element) press(keyOf(element), false, middleOf(element));
  });
  board.addEventListener("keydown", (event) => {
    const element = event.target;
    if (event.key === "Escape") cancel();
    if (!lit.includes(element)) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      press(keyOf(element), true, middleOf(element));
    } else if (DIRECTIONS[event.key]) {
      event.preventDefault();
      const next = neighbour(element, DIRECTIONS[event.key]);
      if (next) focus(next);
    }
  });
}
