// The form for a new game, made of what the server offers.

import { at, make } from "./page.js";

let choices = null;
let start = null;
let kept = [];

// `begin(wanted, tell)` asks for the game, tells what takes long, and answers with what is wrong, or
// nothing.
export function openSetup(offered, state, begin) {
  choices = offered;
  start = begin;
  const options = choices.games.map(({ game }) => make("option", { value: game, textContent: game }));
  at("game").replaceChildren(...options);
  at("game").value = state.game;
  at("seed").value = "";
  tell("");
  showOptions(state.options);
  kept = state.players.map((player) => player.agent);
  showAgents();
  at("setup").showModal();
}

function chosenGame() {
  return choices.games.find(({ game }) => game === at("game").value);
}

function showOptions(values) {
  const rows = chosenGame().options.map((option) => {
    const isBool = typeof option.default === "boolean";
    const value = values[option.name] ?? option.default;
    const input = make("input", { name: option.name, type: isBool ? "checkbox" : "number", required: !isBool });
    if (isBool) input.checked = value;
    else Object.assign(input, { min: option.minimum, max: option.maximum, value });
    const text = make("span", { textContent: option.name }, make("small", { textContent: option.meaning }));
    return make("label", {}, text, input);
  });
  at("options").replaceChildren(...rows);
}

function readOptions() {
  const inputs = [...at("options").querySelectorAll("input")];
  return Object.fromEntries(
    inputs.map((input) => [input.name, input.type === "checkbox" ? input.checked : Number(input.value)]),
  );
}

// A row a player; `kept` remembers the agents of all seats, also of those not there just now.
function showAgents() {
  const { players, options } = chosenGame();
  const { minimum, maximum } = options.find(({ name }) => name === "num_players") ?? { minimum: 2, maximum: 2 };
  const count = Math.max(minimum, Math.min(maximum, readOptions().num_players ?? 2));
  const rows = players.slice(0, count).map((name, player) => {
    kept[player] ??= kept.find((agent) => agent !== "human") ?? "random";
    const agent = kept[player];
    const known = choices.agents.includes(agent) ? choices.agents : [...choices.agents, agent];
    const offered = known.map((each) => make("option", { value: each, textContent: each === "human" ? "you" : each }));
    const select = make("select", {}, ...offered);
    select.value = agent;
    select.addEventListener("change", () => {
      kept[player] = select.value;
    });
    return make("label", {}, make("span", { textContent: player ? name : `${name} (begins)` }), select);
  });
  at("agents").replaceChildren(...rows);
}

function readAgents() {
  return [...at("agents").querySelectorAll("select")].map((select) => select.value);
}

function tell(text) {
  at("setup-error").hidden = !text;
  at("setup-error").textContent = text;
}

at("game").addEventListener("change", () => {
  showOptions({});
  showAgents();
});
at("options").addEventListener("change", showAgents);
at("cancel").addEventListener("click", () => at("setup").close());
at("setup").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("start").disabled = true;
  const wanted = {
    game: at("game").value,
    agents: readAgents(),
    options: readOptions(),
    seed: at("seed").value === "" ? null : at("seed").value,
  };
  tell("");
  const fault = await start(wanted, tell);
  at("start").disabled = false;
  tell(fault);
  if (!fault) at("setup").close();
});
