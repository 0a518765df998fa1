// Decides which view is shown and when the coordinator is asked.
import { ask, Missing, NoToken, Refused, setToken, takeToken } from "./api.js";
import { cost } from "./cost.js";
import { el, setAttribute, setText } from "./dom.js";
import { events } from "./events.js";
import { clock, fixed, money, number } from "./format.js";
import { job } from "./job.js";
import { jobs } from "./jobs.js";
import { nodes } from "./nodes.js";

const VIEWS = { jobs, job, nodes, events, cost };
const main = document.getElementById("main");
const away = document.getElementById("away");

// `view` is the view that is shown: {name, every, shown: {element, questions, show}}.
let view = null;
// `turn` changes with each view. Answers to the questions of an earlier turn are dropped.
let turn = 0;
let timer = 0;
let asking = false;
// `again` says that the user changed something while the coordinator was being asked.
let again = false;
let failedSince = 0;

function route() {
  const given = /^#\/([a-z]+)(?:\?(.*))?$/.exec(location.hash);
  // An address that names no view names a place within the present view, so the view stays.
  if (!given && location.hash.length > 1 && view) return;
  const name = given && VIEWS[given[1]] ? given[1] : "jobs";
  open(name, Object.fromEntries(new URLSearchParams(given ? given[2] : "")));
}

function open(name, params) {
  const moved = view !== null;
  turn += 1;
  const { make, title, every } = VIEWS[name];
  const heading = el("h1", { tabindex: "-1" }, title);
  const shown = make(params, heading);
  view = { name, every, shown };
  main.replaceChildren(heading, shown.element);
  document.title = `${title} - Rekindle`;
  for (const link of document.querySelectorAll("#views a")) {
    const current = link.getAttribute("href") === `#/${name}` || (name === "job" && link.getAttribute("href") === "#/jobs");
    setAttribute(link, "aria-current", current ? "page" : null);
  }
  if (moved) heading.focus();
  askNow();
}

function askNow() {
  clearTimeout(timer);
  if (asking) again = true;
  else tick();
}

async function tick() {
  // A hidden page asks the coordinator nothing. It goes on when the page becomes visible again.
  if (!view || document.hidden) return;
  const mine = turn;
  const begun = performance.now();
  asking = true;
  again = false;
  try {
    const answers = await Promise.all(["summary", ...view.shown.questions()].map(ask));
    if (mine === turn && !again) show(answers);
  } catch (error) {
    if (mine === turn) fail(error);
  }
  asking = false;
  if (again || mine !== turn) return tick();
  if (view) timer = setTimeout(tick, Math.max(100, view.every - (performance.now() - begun)));
}

function show([summary, ...answers]) {
  failedSince = 0;
  setAttribute(away, "hidden", true);
  showSummary(summary.value);
  view.shown.show(answers.map((answer) => answer.value), summary.now, summary.value);
}

function showSummary(summary) {
  const count = (states, name, word) => (states[name] ? `${fixed(states[name], 0)} ${word}` : null);
  const said = [count(summary.jobs, "RUNNING", "running"), count(summary.jobs, "PENDING", "waiting"),
    count(summary.jobs, "FAILED", "failed"), `${fixed(summary.nodes.ready || 0, 0)} nodes ready`,
    count(summary.nodes, "lost", "lost"), `${fixed(summary.trainers, 0)} of ${fixed(summary.slots, 0)} slots train`,
    number(summary.rate) ? `${money(summary.rate, summary.currency)} an hour` : null];
  setText(document.getElementById("summary"), said.filter(Boolean).join(" · "));
  setText(document.getElementById("version"), `Rekindle ${summary.version}.`);
}

function fail(error) {
  if (error instanceof NoToken) return askForToken(error.message);
  if (error instanceof Missing || error instanceof Refused) {
    turn += 1;
    view = null;
    main.replaceChildren(el("h1", { tabindex: "-1" }, "Not there"), el("p", {}, error.message),
      el("p", {}, el("a", { href: "#/jobs" }, "All jobs")));
    main.firstElementChild.focus();
    return;
  }
  failedSince = failedSince || Date.now() / 1000;
  const why = error.name === "TypeError" || error.name === "TimeoutError" ? "The coordinator does not answer" : error.message;
  setText(away, `${why}, since ${clock(failedSince)}. What is shown is of before; the page tries again.`);
  setAttribute(away, "hidden", null);
}

function askForToken(why) {
  turn += 1;
  view = null;
  setAttribute(away, "hidden", true);
  const input = el("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true });
  const form = el("form", { class: "token" }, el("p", {}, `Nothing is shown without the coordinator's token (${why}).`),
    el("label", { for: "token" }, "Token"), input, el("button", { type: "submit" }, "Show the page"),
    el("p", { class: "note" }, "On one machine: open the address that `rekindle up` printed; it is in the file `web` of the coordinator's folder, too. Else: what REKINDLE_TOKEN_FILE holds. The token stays in this tab."));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setToken(input.value);
    route();
  });
  main.replaceChildren(el("h1", {}, "Token"), form);
  input.focus();
}

document.addEventListener("asknow", askNow);
document.addEventListener("visibilitychange", askNow);
window.addEventListener("hashchange", route);
document.getElementById("skip").addEventListener("click", (event) => {
  // The link that skips to the main part must not change the address, as the address says which view is shown.
  event.preventDefault();
  main.focus();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  const search = document.getElementById("search");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing || !search) return;
  event.preventDefault();
  search.focus();
});
takeToken();
route();
