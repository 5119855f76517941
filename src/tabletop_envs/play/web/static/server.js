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

// Ask for what may have to be compiled first: where somebody waits for that, it is said.
export async function askPatiently(path, theme, body, say, signal) {
  let waiting = true;
  const timer = setInterval(async () => {
    const { compiling } = await ask("compiling", theme).catch(() => ({ compiling: false }));
    if (compiling && waiting) say("Compiling, once: this takes up to a minute …");
  }, 1000);
  try {
    return await ask(path, theme, body, signal);
  } finally {
    waiting = false;
    clearInterval(timer);
  }
}
