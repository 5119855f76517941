// Requests to the server; all of them and their answers are JSON.

// What the server refuses, with its `status`; without one it does not answer.
export class ServerError extends Error {}

export async function ask(path, theme, body, signal) {
  const request = { signal };
  if (body !== undefined) {
    Object.assign(request, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }
  let response;
  try {
    response = await fetch(`${path}?theme=${theme}`, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The server does not answer. Has it ended?");
  }
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new ServerError(answer.error), { status: response.status });
}

// Ask for what an agent chooses in a state of the game. Thinking is limited: what takes longer is
// compiling, which is said.
export async function askAgent(path, theme, state, say, signal) {
  const patience = 1000 * (state.think_seconds + 1);
  const timer = setTimeout(() => say("Compiling for the first use: this takes up to a minute …"), patience);
  try {
    return await ask(path, theme, { version: state.version }, signal);
  } finally {
    clearTimeout(timer);
  }
}
