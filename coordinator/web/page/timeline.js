// Shows what happened to a job, when and why: a strip that shows everything at once, and a list.
import { el, setAttribute, setText, svg } from "./dom.js";
import { clock, duration, fixed, isWanted, number, plain, when } from "./format.js";

// The strip of the timeline is `WIDTH` units wide, in units of its own.
const WIDTH = 1000;
const ROWS = { fault: 14, change: 30, checkpoint: 46 };
const MOST = 300;

const CHECKPOINT = /^checkpoint_(saved|skipped|archived)/;
const TROUBLE = /failed|damaged|missing|lost|died|silent|stop|alert|refused|differs|trouble|avoided|straggler$/;

function kindOf(event) {
  if (CHECKPOINT.test(event.kind)) return "checkpoint";
  return TROUBLE.test(event.kind) ? "fault" : "change";
}

// Returns the faults and events of a job, the newest first. If something is both a fault and an event, only the fault
// is shown, as it also says what it cost.
function itemsOf(status, events) {
  const faults = status.faults || [];
  const same = (event) => faults.some((fault) => fault.kind === event.kind && number(fault.generation) === number(event.generation));
  const items = faults.map((fault) => ({
    at: number(fault.at), kind: fault.kind, row: isWanted(fault) ? "change" : "fault", text: fault.reason,
    cost: `pause ${fixed(fault.pause_seconds, 2)} s, ${fixed(fault.steps_redone, 0)} steps and ${fixed(fault.micro_batches_redone, 0)} micro-batches again` }));
  for (const event of events) {
    if (!same(event)) items.push({ at: number(event.at), kind: event.kind, row: kindOf(event), text: event.text, cost: "" });
  }
  return items.sort((a, b) => b.at - a.at).slice(0, MOST);
}

export class Timeline {
  constructor() {
    this.choice = el("select", { "aria-label": "What the time line shows" },
      ...[["", "all"], ["fault", "faults and trouble"], ["change", "changes"], ["checkpoint", "checkpoints"]].map(([value, label]) => el("option", { value }, label)));
    this.choice.addEventListener("change", () => this.draw());
    this.strip = svg("svg", { viewBox: `0 0 ${WIDTH} 56`, preserveAspectRatio: "none", class: "strip", "aria-hidden": "true" });
    this.from = el("span");
    this.until = el("span");
    this.list = el("ol", { class: "timeline", reversed: true, tabindex: "0", "aria-label": "Time line, the newest first" });
    this.none = el("p", { class: "note" }, "Nothing has happened so far.");
    this.element = el("div", {}, el("label", {}, "Show ", this.choice), this.strip,
      el("p", { class: "ends", "aria-hidden": "true" }, this.from, this.until), this.none, this.list);
    this.items = [];
  }

  show(status, events, now) {
    this.items = itemsOf(status, events);
    this.begin = number(status.submitted_at) || now;
    this.end = Math.max(number(status.finished_at) || now, this.begin + 1);
    this.draw();
  }

  draw() {
    const chosen = this.items.filter((item) => !this.choice.value || item.row === this.choice.value);
    this.drawStrip(chosen);
    setAttribute(this.none, "hidden", chosen.length > 0);
    while (this.list.children.length > chosen.length) this.list.lastElementChild.remove();
    chosen.forEach((item, i) => {
      const line = this.list.children[i] || this.list.appendChild(el("li", {}, el("time"), el("strong"), el("span"), el("em")));
      const [time, kind, text, cost] = line.children;
      setAttribute(line, "class", item.row);
      setText(time, when(item.at));
      setAttribute(time, "datetime", new Date(item.at * 1000).toISOString());
      setText(kind, plain(item.kind));
      setText(text, plain(item.text));
      setText(cost, item.cost);
    });
  }

  drawStrip(items) {
    const place = (at) => Math.min(1, Math.max(0, (at - this.begin) / (this.end - this.begin))) * (WIDTH - 8) + 2;
    this.strip.replaceChildren(
      ...Object.values(ROWS).map((y) => svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y, class: "rail" })),
      ...items.map((item) => svg("rect", { x: place(item.at), y: ROWS[item.row] - 6, width: 4, height: 12, class: item.row })));
    setText(this.from, clock(this.begin));
    setText(this.until, `${clock(this.end)}, ${duration(this.end - this.begin)} later`);
  }
}
