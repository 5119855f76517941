// What stands around the board: the players, what is to be done, what has been played.

import { at, chip, make } from "./page.js";

function winners(state) {
  const rewards = state.outcome?.rewards ?? [];
  const best = Math.max(...rewards);
  return new Set(rewards).size < 2 ? [] : rewards.flatMap((reward, player) => (reward === best ? [player] : []));
}

function isAlone(state) {
  return state.players.filter((player) => player.agent === "human").length === 1;
}

export function showPlayers(state) {
  const won = winners(state);
  const rows = state.players.map((player, index) => {
    const human = player.agent === "human";
    const agent = human ? (isAlone(state) ? "you" : "person") : player.agent;
    const row = make("li", {}, chip(player.colours));
    row.append(make("span", { className: "name", textContent: player.name }));
    row.append(make("span", { className: "agent", textContent: agent }));
    if (won.includes(index)) row.append(make("span", { className: "crown", textContent: "won" }));
    row.append(make("span", { className: "score", textContent: player.score, title: "score" }));
    if (index === state.turn) row.setAttribute("aria-current", "true");
    return row;
  });
  at("players").replaceChildren(...rows);
}

function verdict(state) {
  const names = winners(state).map((player) => state.players[player].name);
  const { scores, by_limit: byLimit } = state.outcome;
  const human = state.players.findIndex((player) => player.agent === "human");
  const you = isAlone(state) && names.length === 1 && winners(state)[0] === human;
  const result = you ? "You won" : names.length ? `${names.join(" and ")} won` : "A draw";
  return `${result}. Scores ${scores.join(" : ")}${byLimit ? ", ended by max_plies" : ""}.`;
}

export function showStatus(state) {
  const status = at("status");
  const player = state.players[state.turn];
  status.toggleAttribute("data-yours", state.yours);
  status.toggleAttribute("data-thinking", !state.outcome && !state.yours);
  const last = state.log.at(-1);
  const turn = last ? state.log.slice(state.log.findLastIndex((entry) => entry.player !== last.player) + 1) : [];
  at("last").textContent = last
    ? `${state.players[last.player].name}: ${turn.slice(-6).map((entry) => entry.name).join(", ")}`
    : "";
  if (state.outcome) {
    status.replaceChildren(make("span", { className: "text", textContent: `The game is over. ${verdict(state)}` }));
    return;
  }
  const who = state.yours && isAlone(state) ? "Your turn: " : `${player.name}: `;
  const text = state.yours ? state.prompt : player.agent === "human" ? "only one action is legal" : `${player.agent} thinks`;
  status.replaceChildren(
    chip(player.colours),
    make("span", { className: "who", textContent: who }),
    make("span", { className: "text", textContent: text }),
  );
}

export function showLog(state) {
  const rows = state.log.map((entry, number) => {
    const row = make("li", {}, make("span", { className: "number", textContent: number + 1 }));
    row.append(chip(state.players[entry.player].colours));
    row.append(make("span", { className: "text", textContent: entry.name }));
    if (entry.only && state.players[entry.player].agent === "human") row.append(make("span", { className: "only", textContent: "(only one)" }));
    return row;
  });
  at("log").replaceChildren(...rows);
  at("log").scrollTop = at("log").scrollHeight;
}
