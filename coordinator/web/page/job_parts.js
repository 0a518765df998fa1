// Shows the parts of the view of one job: members, checkpoints, cost and progress.
import { el, Facts, fill, setAttribute, setText, svg, Table } from "./dom.js";
import { ago, duration, fixed, money, number, plain, when } from "./format.js";

// Shows which member computes which micro-batches of a step.
export class Members {
  constructor() {
    this.bar = svg("svg", { viewBox: "0 0 1000 20", preserveAspectRatio: "none", class: "ranges", "aria-hidden": "true" });
    this.none = el("p", { class: "note" }, "No worker has the job now.");
    this.table = new Table("Workers and their ranges", [
      { name: "rank", label: "Rank", number: true, cell: (row) => fixed(row.rank, 0) },
      { name: "trainer", label: "Trainer", cell: (row) => plain((row.trainer || "").split("/").slice(0, 2).join("/")) },
      { name: "node", label: "Node", cell: (row) => ({ text: plain(row.node), href: `#/nodes?q=${encodeURIComponent(row.node || "")}` }) },
      { name: "range", label: "Micro-batches", number: true, cell: (row) => this.rangeOf(row) },
      { name: "each", label: "Each", number: true, cell: (row) => (number(row.micro_batch_seconds) ? `${fixed(1000 * row.micro_batch_seconds, 1)} ms` : "") },
      { name: "straggler", label: "Slow at", cell: (row) => plain(row.straggler) }]);
    this.element = el("div", {}, this.bar, this.none, this.table.element);
  }

  rangeOf(row) {
    const begin = number(row.micro_batch_begin), end = number(row.micro_batch_end);
    return end > begin ? `${begin + 1} to ${end} (${end - begin})` : "none";
  }

  show(members) {
    const total = Math.max(1, ...members.map((member) => number(member.micro_batch_end)));
    this.bar.replaceChildren(...members.map((member, i) => svg("rect", {
      x: (1000 * number(member.micro_batch_begin)) / total, y: 0, height: 20,
      width: Math.max(0, (1000 * (number(member.micro_batch_end) - number(member.micro_batch_begin))) / total - 2), class: i % 2 ? "odd" : "even" })));
    this.table.show(members);
    for (const part of [this.bar, this.table.element]) setAttribute(part, "hidden", members.length === 0);
    setAttribute(this.none, "hidden", members.length > 0);
  }
}

export class Checkpoints {
  constructor() {
    this.facts = new Facts();
    this.element = this.facts.element;
  }

  show(status, events, now) {
    const newest = number(status.checkpoint_step);
    const saved = events.filter((event) => event.kind === "checkpoint_saved").pop();
    const kept = status.resolved_spec?.checkpoint || {};
    this.facts.show([
      ["Newest durable", newest > 0 ? `step ${fixed(newest, 0)}` : "none"],
      ["Saved", saved ? { text: ago(saved.at, now), title: when(saved.at) } : ""],
      ["Steps since", newest > 0 ? fixed(Math.max(0, number(status.step) - newest), 0) : ""],
      ["Failed saves", fixed(status.checkpoints_failed, 0)],
      ["Interval", interval(kept, status)],
      ["Store", plain(status.final_store || kept.store)]]);
  }
}

function interval(kept, status) {
  if (kept.interval === "auto") {
    const seconds = number(status.checkpoint_interval_seconds);
    return { text: seconds ? `every ${duration(seconds)}` : "not known yet", title: plain(status.checkpoint_interval_reason) };
  }
  if (number(kept.every_seconds)) return `every ${duration(kept.every_seconds)}`;
  return number(kept.every_steps) ? `every ${fixed(kept.every_steps, 0)} steps` : "none";
}

export class JobCost {
  constructor() {
    this.facts = new Facts();
    const amount = (name) => (row) => (row.capacity === "unpriced" ? "" : money(row[name], this.currency));
    this.pools = new Table("Cost by pool", [
      { name: "pool", label: "Pool", cell: (row) => plain(row.pool) || "(none named)" },
      { name: "capacity", label: "Capacity", cell: (row) => plain((row.capacity || "").replace("_", " ")) },
      { name: "nodes", label: "Nodes now", number: true, cell: (row) => fixed(row.nodes, 2) },
      { name: "hours", label: "Node-hours", number: true, cell: (row) => fixed(row.node_hours, 3) },
      { name: "price", label: "Price", number: true, cell: (row) => (row.stale ? `${amount("price")(row)} (stale)` : amount("price")(row)) },
      { name: "spent", label: "Spent", number: true, cell: amount("spent") },
      { name: "on_demand", label: "On demand", number: true, cell: (row) => (row.on_demand_known ? money(row.on_demand, this.currency) : "") },
      { name: "carbon", label: "kg CO2", number: true, cell: (row) => (number(row.carbon_node_hours) ? fixed(row.kg_co2, 3) : "") }]);
    this.savings = new Table("What was saved", [
      { name: "by", label: "By", cell: (row) => plain(row.by.replace("_", " ")) },
      { name: "amount", label: "Amount", number: true, cell: (row) => plain(row.amount) },
      { name: "how", label: "How it was computed", cell: (row) => plain(row.how) }]);
    this.element = el("div", {}, this.facts.element, this.pools.element, this.savings.element);
  }

  show(cost, says, savings) {
    this.currency = cost.currency;
    const held = number(cost.until) > 0;
    this.facts.show([
      ["Spent", held ? plain(says.spent) : "it has held no node so far"],
      ["An hour, now", held ? plain(says.rate) : ""],
      ["Forecast", held ? plain(says.forecast) : ""],
      ["Budget", plain(says.budget)],
      ["On demand", held ? plain(says.on_demand) : ""],
      ["Emitted", held ? plain(says.carbon) : ""],
      ["Without a price", number(cost.unpriced_node_hours) ? `${fixed(cost.unpriced_node_hours, 3)} node-hours, not in these amounts` : ""]]);
    setAttribute(this.pools.element, "hidden", !(cost.pools || []).length);
    this.pools.show(cost.pools || []);
    this.savings.show(savings);
  }
}

// Shows how far the job's training is.
export class Progress {
  constructor() {
    this.badge = el("span");
    this.reason = el("span");
    this.bar = el("progress", { "aria-label": "Steps", value: 0, max: 1 });
    this.words = el("span", { class: "words" });
    this.element = el("div", { class: "progress" }, el("p", {}, this.badge, " ", this.reason), this.bar, this.words);
  }

  show(badge, reason, step, steps, words) {
    fill(this.badge, badge);
    setText(this.reason, reason);
    setAttribute(this.bar, "max", Math.max(1, steps));
    setAttribute(this.bar, "value", step);
    setText(this.words, words);
  }
}
