// Asks the coordinator. The token stays in this tab, and goes with each question as a header: a browser sends it nowhere
// by itself.

const KEY = "rekindle-token";
const PATIENCE_MS = 10_000;

export class NoToken extends Error {}
export class Missing extends Error {}   // There is no such thing (any more).
export class Refused extends Error {}   // The question was wrong.

let token = "";
const known = new Map();   // By question: the newest answer and its tag.
const MOST_KNOWN = 50;

// The token in the address that `rekindle up` prints. It is taken out of the address at once: addresses are seen by people behind
// one's back, and kept in histories.
export function takeToken() {
  const given = /^#token=([^&]+)/.exec(location.hash);
  token = sessionStorage.getItem(KEY) || "";
  if (!given) return;
  history.replaceState(null, "", `${location.pathname}#/jobs`);
  try {
    setToken(decodeURIComponent(given[1]));
  } catch {
    // No token of ours: the form asks for one.
  }
}

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem(KEY, token);
}

// {value, changed, now}: the answer, whether it is another one than the last to this question, and the coordinator's time
// in Unix seconds.
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
    // Not from the coordinator: the status says all.
  }
  if (answer.status === 401) return new NoToken(message);
  if (answer.status === 404) return new Missing(message);
  if (answer.status === 400) return new Refused(message);
  return new Error(message);
}
