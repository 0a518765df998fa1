// Shows the pools, with what they cost and emit, and the nodes.
import { el, setAttribute, Table } from "./dom.js";
import { ago, duration, fixed, money, number, plain } from "./format.js";
import { List } from "./list.js";

const STATES = ["ready", "draining", "drained", "lost"];

function slots(row) {
  const faults = row.slot_faults || [];
  if (faults.length === 0) return fixed(row.slots, 0);
  const words = faults.map((fault) => `slot ${fixed(fault.slot, 0)}: ${plain(fault.words)}`);
  return { text: `${fixed(row.slots, 0)}, ${fixed(faults.length, 0)} failed`, title: words.join("\n") };
}

class Nodes {
  constructor(params) {
    this.now = 0;
    const price = (value) => money(value, this.currency);
    this.pools = new Table("Pools", [
      { name: "pool", label: "Pool", cell: (row) => ({ text: plain(row.name), href: `#/nodes?pool=${encodeURIComponent(row.name)}` }) },
      { name: "capacity", label: "Capacity", cell: (row) => plain(row.capacity.replace("_", " ")) },
      { name: "nodes", label: "Nodes ready", number: true, cell: (row) => `${fixed(row.ready, 0)} of ${fixed(row.nodes, 0)}` },
      { name: "ordered", label: "May have", number: true, cell: (row) => (row.ordered ? `${fixed(row.min, 0)} to ${fixed(row.max, 0)}` : "") },
      { name: "price", label: "Price of an hour", number: true, cell: (row) => this.priceOf(row) },
      { name: "on_demand", label: "On demand", number: true, cell: (row) => (row.on_demand === undefined ? "" : price(row.on_demand)) },
      { name: "intensity", label: "Carbon, g/kWh", number: true, cell: (row) => ({ text: row.intensity === undefined ? "" : fixed(row.intensity, 0), title: plain(row.carbon_region) }) },
      { name: "never", label: "Never registered", number: true, cell: (row) => (number(row.never_registered) ? `${fixed(row.never_registered, 2)}, ${price(row.never_registered_spent)}` : "") }]);
    this.list = new List({
      path: "#/nodes", question: "nodes", caption: "Nodes", params, first: { sort: "name", order: "up" },
      filters: [{ name: "state", label: "State", options: STATES.map((state) => [state, state]) }, { name: "pool", label: "Pool", options: [] }],
      columns: [
        { name: "name", label: "Node", sort: "up", cell: (row) => plain(row.name) },
        { name: "state", label: "State", sort: "up", cell: (row) => ({ text: row.state, class: `badge ${row.state}` }) },
        { name: "slots", label: "Slots", sort: "down", number: true, cell: (row) => slots(row) },
        { name: "trainers", label: "Trainers", sort: "down", number: true, cell: (row) => ({ text: fixed((row.trainers || []).length, 0), title: plain((row.trainers || []).join(" ")) }) },
        { name: "pool", label: "Pool", sort: "up", cell: (row) => (row.pool ? `${plain(row.pool)}${row.capacity === "unpriced" ? " (no price)" : ""}` : "") },
        { name: "zone", label: "Zone", sort: "up", cell: (row) => plain(row.zone) },
        { name: "seen", label: "Heard of", sort: "down", number: true, cell: (row) => (number(row.last_seen_seconds) < 0 ? "" : `${duration(row.last_seen_seconds)} ago`) },
        { name: "version", label: "Version", cell: (row) => plain(row.version) },
        { name: "reason", label: "Reason", cell: (row) => plain(row.reason) }],
    });
    this.note = el("p", { class: "note" }, "No fleet file names a pool: what nodes cost is not known.");
    this.element = el("div", {}, this.pools.element, this.note, this.list.element);
  }

  priceOf(row) {
    if (row.capacity === "unpriced") return "";
    const text = money(row.price, this.currency);
    return { text: row.stale ? `${text} (stale)` : text, title: number(row.price_from) ? `known since ${ago(row.price_from, this.now)}` : null };
  }

  questions() {
    return ["pools", this.list.ask()];
  }

  show([pools, nodes], now) {
    this.now = now;
    this.currency = pools.currency;
    setAttribute(this.pools.element, "hidden", pools.pools.length === 0);
    setAttribute(this.note, "hidden", pools.pools.length > 0);
    this.pools.show(pools.pools);
    this.list.offer("pool", pools.pools.map((pool) => [pool.name, plain(pool.name)]));
    this.list.show(nodes, nodes.nodes);
  }
}

export const nodes = { title: "Nodes", every: 2000, make: (params) => new Nodes(params) };
