// The page to play on: asks the server, shows its state, and narrows the legal actions by clicks.

import * as board from "./board.js";
import { at, commonWords, make, moveFocus } from "./page.js";
import { showLog, showPlayers, showStatus } from "./panels.js";
import { ask, askPatiently, ServerError } from "./server.js";
import { openSetup } from "./setup.js";

// So long an opponent's action can be seen before the next one, in milliseconds.
const PAUSE = 250;
let theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
let state = null; // what the server has told last
let chosen = []; // the keys clicked so far for one action
let hint = null; // the action last hinted at
let busy = false; // whether an answer of the server is awaited before anything else can be done
let thinking = null; // aborts the request that an opponent plays by
let unveiled = null; // the player who may see the board, where several sit before it
let focused = null; // where the keyboard continues: "board", "list" or nowhere
let point = null; // where the board was last used

// The server

// Ask for a change and show what follows; after a refusal the newest state. Whether it went well.
// `tell` is told where that takes long.
async function change(path, body = {}, tell = say) {
  if (busy) return false;
  busy = true;
  const interrupted = thinking !== null;
  thinking?.abort();
  try {
    try {
      show(await askPatiently(path, theme, { version: state.version, ...body }, tell));
    } catch (error) {
      if (error.status !== 409 || !interrupted) throw error;
      // The opponent has just played: what is wanted holds for the game after that as well.
      show(await ask("state", theme));
      show(await ask(path, theme, { version: state.version, ...body }));
    }
    return true;
  } catch (error) {
    await recover(error);
    return false;
  } finally {
    busy = false;
    goOn();
  }
}

async function recover(error) {
  if (!(error instanceof ServerError)) throw error;
  const message = error.status === 409 ? "The game has advanced elsewhere. This is how it stands now." : error.message;
  if (error.status !== undefined) {
    try {
      show(await ask("state", theme));
    } catch {
      // What follows says that something is wrong.
    }
  }
  say(message, true);
}

async function refresh() {
  if (busy) return;
  try {
    show(await ask("state", theme));
    goOn();
  } catch (error) {
    await recover(error);
  }
}

// Let agents, and people with only one action, play until a person has a choice.
function goOn() {
  if (busy || thinking !== null || state === null || state.outcome || state.yours) return;
  const controller = new AbortController();
  thinking = controller;
  const asked = state;
  setTimeout(async () => {
    try {
      if (controller.signal.aborted) return;
      const next = await askPatiently("advance", theme, { version: asked.version }, say, controller.signal);
      if (!controller.signal.aborted) show(next);
    } catch (error) {
      if (error.name === "AbortError") return;
      thinking = null;
      await recover(error);
      // Only where the game has advanced elsewhere another attempt can end better.
      if (error.status !== 409) return;
    } finally {
      if (thinking === controller) thinking = null;
    }
    goOn();
  }, PAUSE);
  controller.signal.addEventListener("abort", () => {
    if (thinking === controller) thinking = null;
  });
}

// Showing

function show(next) {
  const first = state === null;
  const same = !first && next.version === state.version;
  state = next;
  if (!same) {
    chosen = [];
    hint = null;
  }
  closeMenu();
  document.title = `${state.game}${state.yours ? ": your turn" : ""}`;
  at("title").textContent = state.game;
  const options = Object.entries(state.options).map(([name, value]) => `${name} ${value}`);
  at("setting").textContent = options.join(", ");
  say(state.notice, true);
  board.draw(state);
  showCurtain();
  // What has been chosen so far is for the same eyes as the board.
  const told = isVeiled() ? { ...state, prompt: "", log: [] } : state;
  showPlayers(told);
  showStatus(told);
  showLog(told);
  narrow();
  at("new").disabled = false;
  at("undo").disabled = !state.can_undo;
  at("hint").disabled = !state.yours || isVeiled();
  at("hint").title = `What ${state.hint_agent} would do`;
  at("record").disabled = !state.can_record;
  at("record").title = state.can_record ? "The game as a file" : "Once the game is over: it tells what is hidden";
  takeFocus();
  if (!first && !same && focused === null) board.reveal();
}

function say(text, wrong = false) {
  at("notice").hidden = !text;
  at("notice").textContent = text;
  at("notice").toggleAttribute("data-wrong", wrong);
}

// Several people before one screen must not see each other's hands.
function showCurtain() {
  const drawn = state.curtain && state.viewer !== unveiled;
  at("board").toggleAttribute("data-curtain", drawn);
  if (!drawn) return;
  const { name } = state.players[state.viewer];
  const button = make("button", { type: "button", className: "main", textContent: `I am ${name}: show it` });
  button.addEventListener("click", () => {
    unveiled = state.viewer;
    focused = "board";
    show(state);
  });
  const curtain = make("div", { id: "curtain" }, make("p", { textContent: `The board is for the eyes of ${name}.` }), button);
  at("board").append(curtain);
}

// Choosing an action

function isVeiled() {
  return at("board").hasAttribute("data-curtain");
}

function candidates() {
  if (!state.yours || isVeiled()) return [];
  return state.legal.filter((entry) => chosen.every((key, place) => entry.steps[place]?.includes(key)));
}

// What can be clicked next: keys, each with the actions that continue by it.
function nextKeys() {
  const keys = new Map();
  for (const entry of candidates()) {
    for (const key of entry.steps[chosen.length] ?? []) {
      if (!keys.has(key)) keys.set(key, []);
      keys.get(key).push(entry);
    }
  }
  return keys;
}

function press(key, keyboard, where) {
  if (busy || !state?.yours) return;
  closeMenu();
  point = where ?? point;
  focused = keyboard ? "board" : null;
  if (!nextKeys().has(key)) {
    const again = chosen.at(-1) === key;
    chosen = [];
    if (again || !nextKeys().has(key)) {
      narrow();
      return;
    }
  }
  chosen.push(key);
  const entries = candidates();
  const complete = entries.filter((entry) => entry.steps.length === chosen.length);
  if (entries.length === 1 && complete.length === 1) {
    play(complete[0]);
    return;
  }
  narrow();
  if (complete.length) openMenu(complete, key);
  else if (keyboard) board.focusLit(point);
  else board.reveal();
}

function play(entry) {
  change("play", { action: entry.action });
}

function cancel() {
  closeMenu();
  if (chosen.length === 0) return;
  chosen.pop();
  narrow();
  if (focused === "board" || board.hasFocus()) board.focusLit(point);
}

// Show the legal actions that what has been chosen leaves: on the board, as buttons, in the list.
function narrow() {
  const places = new Map();
  const commands = [];
  for (const [key, entries] of nextKeys()) {
    if (key.startsWith("action:")) {
      commands.push(entries[0]);
      continue;
    }
    const label = commonWords(entries.map((entry) => entry.name));
    const ends = entries.every((entry) => entry.steps.length === chosen.length + 1);
    places.set(key, { label: entries.length > 1 ? `${label}: ${entries.length} ways` : label, ends });
  }
  board.light(places, chosen, hint?.steps.flat() ?? []);
  at("commands").replaceChildren(
    ...commands.map((entry) => {
      const button = make("button", { type: "button", textContent: capital(entry.name) });
      button.dataset.action = entry.action;
      button.addEventListener("click", (event) => {
        focused = event.detail === 0 ? "board" : null;
        play(entry);
      });
      return button;
    }),
  );
  listLegal();
}

function capital(name) {
  return name[0].toUpperCase() + name.slice(1);
}

function filtered() {
  const words = at("filter").value.toLowerCase().split(/\s+/);
  return candidates().filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word)));
}

function listLegal() {
  const entries = filtered();
  const rows = entries.map((entry) => {
    const button = make("button", { type: "button", textContent: entry.name });
    button.dataset.action = entry.action;
    return make("li", {}, button);
  });
  const waiting = state.outcome ? "the game is over" : "it is not your turn";
  const none = state.yours ? "no legal action has this in its name" : waiting;
  at("legal").replaceChildren(...(rows.length ? rows : [make("li", {}, make("p", { textContent: none }))]));
  at("legal").scrollTop = 0;
  const count = candidates().length;
  at("legal-heading").textContent = count ? `Your actions (${entries.length} of ${count})` : "Your actions";
}

// Several actions with the same steps: chosen by their names

function openMenu(entries, key) {
  const menu = at("menu");
  menu.replaceChildren(
    ...entries.map((entry) => {
      const button = make("button", { type: "button", textContent: entry.name });
      button.dataset.action = entry.action;
      button.setAttribute("role", "menuitem");
      button.addEventListener("click", () => play(entry));
      return button;
    }),
  );
  menu.hidden = false;
  const place = board.find(key).getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = place.bottom + 6;
  const top = below + height < window.innerHeight ? below : Math.max(6, place.top - height - 6);
  const left = Math.min(Math.max(6, place.left), document.documentElement.clientWidth - width - 6);
  menu.style.top = `${top + window.scrollY}px`;
  menu.style.left = `${left + window.scrollX}px`;
  menu.firstChild.focus({ preventScroll: true });
}

function closeMenu() {
  at("menu").hidden = true;
}

// Keyboard

function takeFocus() {
  // Focus elsewhere on the page stays where it is.
  const { activeElement } = document;
  const free = activeElement === document.body || at("menu").contains(activeElement) || board.hasFocus();
  if (focused === "list" && free && state.yours) at("filter").focus();
  if (focused !== "board" || !free) return;
  const command = at("commands").firstChild;
  if (isVeiled()) at("curtain").querySelector("button").focus();
  else if (!board.focusLit(point)) (command ?? at("board")).focus({ preventScroll: true });
}

// Themes

function setTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name;
  const other = name === "dark" ? "light" : "dark";
  at("theme").setAttribute("aria-label", `Switch to the ${other} theme`);
  at("theme").title = `Switch to the ${other} theme`;
}

// What a player does

board.listen(press, cancel);
at("board").addEventListener("redrawn", () => {
  showCurtain();
  narrow();
});
at("legal").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const entry = state.legal.find((each) => String(each.action) === button?.dataset.action);
  if (entry === undefined) return;
  focused = event.detail === 0 ? "list" : null;
  at("filter").value = "";
  play(entry);
});
at("legal").addEventListener("keydown", (event) => {
  moveFocus(event, [...at("legal").querySelectorAll("button")], "ArrowDown", "ArrowUp");
});
at("filter").addEventListener("input", listLegal);
at("filter").addEventListener("keydown", (event) => {
  const entries = filtered();
  if (event.key === "ArrowDown") {
    event.preventDefault();
    at("legal").querySelector("button")?.focus();
  }
  if (event.key !== "Enter") return;
  const exact = entries.filter((entry) => entry.name === at("filter").value.trim());
  const only = exact.length === 1 ? exact[0] : entries.length === 1 ? entries[0] : null;
  if (only === null || busy) return;
  focused = "list";
  at("filter").value = "";
  play(only);
});
at("menu").addEventListener("keydown", (event) => {
  if (event.key === "Escape") cancel();
  else moveFocus(event, [...at("menu").children], "ArrowDown", "ArrowUp");
});
document.addEventListener("pointerdown", (event) => {
  if (!at("menu").hidden && !at("menu").contains(event.target) && !at("board").contains(event.target)) cancel();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && state !== null) refresh();
});
at("undo").addEventListener("click", () => change("undo"));
at("hint").addEventListener("click", async () => {
  if (busy) return;
  busy = true;
  say(`${state.hint_agent} thinks …`);
  try {
    const answer = await askPatiently("hint", theme, { version: state.version }, say);
    hint = answer.legal.find((entry) => entry.action === answer.hint.action) ?? null;
    chosen = [];
    narrow();
    say(`${state.hint_agent} would choose: ${answer.hint.name}`);
  } catch (error) {
    await recover(error);
  } finally {
    busy = false;
    goOn();
  }
});
at("record").addEventListener("click", () => make("a", { href: "record", download: "" }).click());
at("theme").addEventListener("click", () => {
  setTheme(theme === "dark" ? "light" : "dark");
  refresh();
});
at("new").addEventListener("click", async () => {
  try {
    const choices = await ask("choices", theme);
    openSetup(choices, state, async (wanted, tell) => {
      unveiled = null;
      if (await change("new", wanted, tell)) return "";
      return at("notice").textContent;
    });
  } catch (error) {
    await recover(error);
  }
});

setTheme(theme);
refresh();
