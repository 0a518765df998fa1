// Shows the newest events of the cluster.
import { el, setText, Table } from "./dom.js";
import { fixed, jobLink, plain, when } from "./format.js";

const MOST = 300;

// Collects the events of one job, or of all jobs if `job` is empty. Each request asks for the events after the last one
// that is known.
export class EventFeed {
  constructor(job = "") {
    this.job = job;
    this.events = [];
    this.last = 0;
  }

  ask() {
    return `events?${new URLSearchParams({ job: this.job, after: this.last })}`;
  }

  // Adds the new events of an answer and returns whether there were any. An answer may come twice, so events that are
  // already known are left out.
  take(answer) {
    const fresh = (answer.events || []).filter((event) => event.revision > this.last);
    if (!fresh.length) return false;
    this.events = [...this.events, ...fresh].slice(-MOST);
    this.last = fresh[fresh.length - 1].revision;
    return true;
  }
}

class Events {
  constructor() {
    this.feed = new EventFeed();
    this.search = el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
    this.search.addEventListener("input", () => this.draw());
    const form = el("form", { class: "filters", role: "search" }, el("label", {}, "Job, kind or text has ", this.search));
    form.addEventListener("submit", (event) => event.preventDefault());
    this.count = el("p", { class: "count", role: "status" });
    this.table = new Table("Events", [
      { name: "at", label: "When", cell: (row) => when(row.at) },
      { name: "job", label: "Job", cell: (row) => (row.job ? { text: plain(row.job), href: jobLink(row.job) } : "") },
      { name: "kind", label: "What", cell: (row) => plain(row.kind) },
      { name: "step", label: "Step", number: true, cell: (row) => (row.step ? fixed(row.step, 0) : "") },
      { name: "node", label: "Node", cell: (row) => plain(row.node) },
      { name: "text", label: "Decided, and why", cell: (row) => plain(row.text) }]);
    this.element = el("section", { "aria-label": "Events" }, form, this.count, this.table.element);
  }

  questions() {
    return [this.feed.ask()];
  }

  show([answer]) {
    this.feed.take(answer);
    this.draw();
  }

  draw() {
    const wanted = this.search.value.toLowerCase();
    const chosen = this.feed.events.filter((event) => !wanted
      || [event.job, event.kind, event.text, event.node].some((text) => (text || "").toLowerCase().includes(wanted)));
    setText(this.count, chosen.length === this.feed.events.length ? `the newest ${fixed(chosen.length, 0)}`
      : `${fixed(chosen.length, 0)} of the newest ${fixed(this.feed.events.length, 0)}`);
    this.table.show(chosen.reverse());
  }
}

export const events = { title: "Events", every: 1000, make: () => new Events() };
