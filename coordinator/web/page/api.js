// Sends requests to the coordinator. The token stays in the browser's tab and goes with each request as a header. So
// the browser never sends it anywhere by itself.

const KEY = "rekindle-token";
const PATIENCE_MS = 10_000;

// `NoToken` says that the token is missing or wrong, `Missing` that what was asked for does not exist or no longer
// exists, and `Refused` that the request was wrong.
export class NoToken extends Error {}
export class Missing extends Error {}
export class Refused extends Error {}

let token = "";
// `known` maps a question to its newest answer and the tag of that answer.
const known = new Map();
const MOST_KNOWN = 50;

// Takes the token from the address that `rekindle up` prints. The token is removed from the address at once, because
// other people may see the address on the screen and the browser keeps it in its history.
export function takeToken() {
  const given = /^#token=([^&]+)/.exec(location.hash);
  token = sessionStorage.getItem(KEY) || "";
  if (!given) return;
  history.replaceState(null, "", `${location.pathname}#/jobs`);
  try {
    setToken(decodeURIComponent(given[1]));
  } catch {
    // The part of the address after "#token=" is no token, so the form asks for one.
  }
}

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem(KEY, token);
}

// Sends a question to the coordinator. Returns {value, changed, now}: `value` is the answer, `changed` says whether it
// differs from the last answer to the same question, and `now` is the coordinator's time in Unix seconds.
export async function ask(question) {
  if (!token) throw new NoToken("this page needs the coordinator's token");
  const before = known.get(question);
  const headers = { Authorization: `Bearer ${token}` };
  if (before) headers["If-None-Match"] = before.tag;
  const answer = await fetch(`api/${question}`, {
    headers, cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const now = Date.parse(answer.headers.get("Date")) / 1000 || Date.now() / 1000;
  if (answer.status === 304 && before) return { value: before.value, changed: false, now };
  if (!answer.ok) throw await failure(answer);
  const value = await answer.json();
  known.delete(question);
  known.set(question, { value, tag: answer.headers.get("ETag") || "" });
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value);
  return { value, changed: true, now };
}

async function failure(answer) {
  let message = `status ${answer.status}`;
  try {
    message = (await answer.json()).error || message;
  } catch {
    // An answer without JSON is not from the coordinator, so only its status is known.
  }
  if (answer.status === 401) return new NoToken(message);
  if (answer.status === 404) return new Missing(message);
  if (answer.status === 400) return new Refused(message);
  return new Error(message);
}
