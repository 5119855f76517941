"use strict";
// The replay page: decodes the drawings, and shows the one that buttons, keys, list, slider and graph ask for.
// Whatever a record says becomes text (textContent); only drawings of our own become elements.

const SVG = "http://www.w3.org/2000/svg";
const THEMES = ["light", "dark"];
const TEN = 10;
const data = JSON.parse(at("data").textContent);

let theme = 0;
let game = null; // the game shown: its entry in the data, with drawings as lists of parts
let step = 0; // how many of its actions have been played
let timer = null; // set while it plays

function at(id) {
  return document.getElementById(id);
}

function make(name, className, text) {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text ?? "";
  return element;
}

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Drawings

const known = THEMES.map(() => new Map()); // the parts' texts in each theme, as far as they were needed

function read(part) {
  let text = known[theme].get(part);
  if (text === undefined) {
    const words = data.parts[part].map((word) => data.words[word]);
    text = words.map((word) => (typeof word === "string" ? word : word[theme])).join("");
    known[theme].set(part, text);
  }
  return text;
}

function decode(deltas) {
  const parts = [];
  return deltas.map((changes) => {
    for (const [place, gone, ...come] of changes) parts.splice(place, gone, ...come);
    return parts.slice();
  });
}

function parse(text) {
  const drawing = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(drawing, true);
}

function draw() {
  at("board").replaceChildren(parse(game.frames[step].map(read).join("")));
}

function drawPieces() {
  const pieces = data.pieces.map(read).join("");
  at("pieces").replaceChildren(parse(`<svg xmlns="${SVG}"><defs>${pieces}</defs></svg>`));
}

function chip(player) {
  const element = shape("svg", { class: "chip", viewBox: "0 0 14 14", "aria-hidden": "true" });
  element.append(shape("circle", { cx: 7, cy: 7, r: 6, "stroke-width": 1.5, "data-player": player }));
  return element;
}

function colour() {
  for (const element of document.querySelectorAll("[data-player]")) {
    const [fill, outline] = game.players[element.dataset.player].colours[theme];
    const drawn = element.classList;
    if (!drawn.contains("curve") && !drawn.contains("casing")) element.setAttribute("fill", fill);
    element.setAttribute("stroke", drawn.contains("curve") ? fill : outline);
  }
}

// The game

function gameLabel(entry, number) {
  const agents = entry.players.map((player) => player.agent).join(" – ");
  return `${number + 1}: ${entry.game}, ${agents} (${entry.result})`;
}

function choose(number) {
  pause();
  const entry = data.games[number];
  game = { ...entry, frames: decode(entry.drawings) };
  step = 0;
  const agents = game.players.map((player) => player.agent).join(" – ");
  document.title = `${game.game}: ${agents}`;
  at("title").textContent = game.game;
  at("setting").textContent = game.setting;
  at("result").textContent = `Result: ${game.result}`;
  at("slider").max = game.actions.length;
  listPlayers();
  listActions();
  plot();
  at("notes").hidden = !game.notes;
  at("notes").querySelector("pre").textContent = game.notes;
  drawPieces();
  colour();
  show(0);
}

function listPlayers() {
  const rows = game.players.map((player, index) => {
    const row = make("li", "player");
    row.append(chip(index), make("span", "name", player.name), make("span", "agent", player.agent));
    if (game.winners.includes(index)) row.append(make("span", "crown", "won"));
    row.append(make("span", "value"));
    return row;
  });
  at("players").replaceChildren(...rows);
}

function listActions() {
  const rows = ["start", ...game.actions].map((name, number) => {
    const button = make("button", "action");
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.step = number;
    button.append(make("span", "number", number || ""));
    if (number) {
      button.append(chip(game.movers[number - 1]));
      button.setAttribute("aria-label", `${number}, ${mover(number).name}: ${name}`);
    }
    button.append(make("span", "text", name));
    const row = make("li", "");
    row.append(button);
    return row;
  });
  at("actions").replaceChildren(...rows);
}

function mover(number) {
  return game.players[game.movers[number - 1]];
}

// A position

function show(wanted) {
  step = Math.max(0, Math.min(game.actions.length, wanted));
  draw();
  const end = step === game.actions.length;
  const now = at("now");
  // Read aloud only what a reader asked for, not a game that plays.
  now.setAttribute("aria-live", timer === null ? "polite" : "off");
  now.replaceChildren(make("span", "number", `${step} / ${game.actions.length} `));
  const text = step ? `${mover(step).name}: ${game.actions[step - 1]}` : "start";
  now.append(make("span", "text", end ? `${text} (${game.result})` : text));
  at("slider").value = step;
  at("slider").setAttribute("aria-valuetext", now.textContent);
  markCurrent();
  movePlayers();
  const cursor = at("graph").querySelector(".cursor");
  if (cursor) cursor.setAttribute("d", `M${step} -1V1`);
  for (const id of ["first", "back"]) at(id).disabled = step === 0;
  for (const id of ["forth", "last"]) at(id).disabled = end;
  if (end) pause();
}

function markCurrent() {
  const list = at("actions");
  const old = list.querySelector("[aria-current]");
  const button = list.children[step].firstChild;
  const focused = list.contains(document.activeElement);
  if (old) {
    old.removeAttribute("aria-current");
    old.tabIndex = -1;
  }
  button.setAttribute("aria-current", "step");
  button.tabIndex = 0;
  if (focused) button.focus({ preventScroll: true });
  // Only the list scrolls, never the page.
  const top = button.offsetTop;
  if (top < list.scrollTop || top + button.offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = top - list.clientHeight / 2;
  }
}

function movePlayers() {
  const next = game.movers[step];
  [...at("players").children].forEach((row, index) => {
    row.toggleAttribute("aria-current", index === next);
    const value = game.values?.[step]?.[index];
    const text = value == null ? "" : value.toFixed(2).replace("-", "−");
    row.querySelector(".value").textContent = value > 0 ? `+${text}` : text;
  });
}

// The graph of the evaluations: across the positions, up what a player was thought to get

function plot() {
  at("evaluation").hidden = !game.values;
  const graph = at("graph");
  graph.replaceChildren();
  if (!game.values) return;
  const last = Math.max(1, game.actions.length);
  const size = Math.max(1, ...game.values.flat().map((value) => Math.abs(value ?? 0)));
  at("highest").textContent = `+${+size.toPrecision(3)}`;
  at("lowest").textContent = `−${+size.toPrecision(3)}`;
  graph.setAttribute("viewBox", `0 -1.08 ${last} 2.16`);
  graph.append(shape("path", { class: "zero", d: `M0 0H${last}` }));
  game.players.forEach((_, player) => {
    const points = game.values.map((row, position) => [position, row[player]]);
    const known = points.filter(([, value]) => value !== null);
    const d = `M${known.map(([x, value]) => `${x} ${-value / size}`).join("L")}`;
    if (known.length === 0) return;
    for (const name of ["casing", "curve"]) {
      graph.append(shape("path", { class: name, d, "data-player": player }));
    }
  });
  graph.append(shape("path", { class: "cursor", d: "M0 -1V1" }));
}

function jumpInGraph(event) {
  if (event.type === "pointermove" && !(event.buttons & 1)) return;
  const { left, width } = at("graph").getBoundingClientRect();
  show(Math.round(((event.clientX - left) / width) * Math.max(1, game.actions.length)));
}

// Playing

function play() {
  if (step === game.actions.length) show(0);
  if (game.actions.length === 0) return;
  timer = setInterval(() => show(step + 1), 1000 / at("speed").value);
  at("play").setAttribute("aria-label", "Pause");
  at("play").toggleAttribute("data-playing", true);
}

function pause() {
  clearInterval(timer);
  timer = null;
  at("play").setAttribute("aria-label", "Play");
  at("play").toggleAttribute("data-playing", false);
}

function togglePlay() {
  if (timer === null) play();
  else pause();
}

// Themes

function setTheme(name) {
  theme = THEMES.indexOf(name);
  document.documentElement.dataset.theme = name;
  const other = THEMES[1 - theme];
  at("theme").setAttribute("aria-label", `Switch to the ${other} theme`);
  at("theme").title = `Switch to the ${other} theme`;
  if (game === null) return;
  drawPieces();
  colour();
  draw();
}

// What a reader does

const KEYS = {
  ArrowLeft: () => step - 1,
  ArrowRight: () => step + 1,
  PageUp: () => step - TEN,
  PageDown: () => step + TEN,
  Home: () => 0,
  End: () => game.actions.length,
};
const LIST_KEYS = { ArrowUp: KEYS.ArrowLeft, ArrowDown: KEYS.ArrowRight };

function press(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || target.closest("select")) return;
  const inList = at("actions").contains(target);
  if (key === " ") {
    // Other buttons are pressed by space themselves.
    if (target.closest("button, summary") && !inList) return;
    event.preventDefault();
    togglePlay();
    return;
  }
  const where = KEYS[key] ?? (inList ? LIST_KEYS[key] : undefined);
  if (where === undefined) return;
  event.preventDefault();
  pause();
  show(where());
}

function jump(wanted) {
  pause();
  show(wanted);
}

function begin() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const wish = () => (dark.matches ? "dark" : "light");
  const given = document.documentElement.dataset.theme;
  let automatic = given === "auto";
  setTheme(automatic ? wish() : given);
  dark.addEventListener("change", () => automatic && setTheme(wish()));
  at("theme").addEventListener("click", () => {
    automatic = false;
    setTheme(THEMES[1 - theme]);
  });
  data.games.forEach((entry, number) => {
    const option = make("option", "", gameLabel(entry, number));
    option.value = number;
    at("games").append(option);
  });
  at("chooser").hidden = data.games.length === 1;
  at("games").addEventListener("change", () => choose(Number(at("games").value)));
  at("first").addEventListener("click", () => jump(0));
  at("back").addEventListener("click", () => jump(step - 1));
  at("forth").addEventListener("click", () => jump(step + 1));
  at("last").addEventListener("click", () => jump(game.actions.length));
  at("play").addEventListener("click", togglePlay);
  at("slider").addEventListener("input", () => jump(Number(at("slider").value)));
  at("speed").addEventListener("change", () => {
    if (timer !== null) {
      pause();
      play();
    }
  });
  at("actions").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) jump(Number(button.dataset.step));
  });
  for (const type of ["pointerdown", "pointermove"]) {
    at("graph").addEventListener(type, (event) => jumpInGraph(event));
  }
  document.addEventListener("keydown", press);
  choose(0);
}

begin();
