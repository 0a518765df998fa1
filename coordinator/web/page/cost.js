// Shows what teams and jobs cost.
import { el, Table } from "./dom.js";
import { fixed, money, number, plain } from "./format.js";
import { dearest } from "./jobs.js";

const amount = (name) => (row) => (number(row.total[name]) ? money(row.total[name], row.total.currency) : "");

class Cost {
  constructor(params) {
    this.teams = new Table("Teams", [
      { name: "team", label: "Team", cell: (row) => (row.team ? { text: plain(row.team), href: `#/cost?team=${encodeURIComponent(row.team)}` } : "(none)") },
      { name: "jobs", label: "Jobs", number: true, cell: (row) => fixed(row.jobs, 0) },
      { name: "active", label: "Not over", number: true, cell: (row) => fixed(row.active, 0) },
      { name: "spent", label: "Spent", number: true, cell: amount("spent") },
      { name: "rate", label: "An hour", number: true, cell: amount("rate") },
      { name: "forecast", label: "Forecast", number: true, cell: amount("forecast") },
      { name: "on_demand", label: "On demand", number: true, cell: amount("on_demand") },
      { name: "carbon", label: "kg CO2", number: true, cell: (row) => (number(row.total.carbon_node_hours) ? fixed(row.total.kg_co2, 3) : "") }]);
    this.list = dearest(params);
    this.element = el("div", {}, this.teams.element, this.list.element,
      el("p", { class: "note" }, "Amounts are of node-seconds with a price in the fleet file. On demand: what the same node-hours cost on demand."));
  }

  questions() {
    return ["teams", this.list.ask()];
  }

  show([teams, jobs], now, summary) {
    this.teams.show(teams.teams);
    this.list.offer("team", (summary.teams || []).map((team) => [team, plain(team)]));
    this.list.show(jobs, jobs.jobs);
  }
}

export const cost = { title: "Cost", every: 2000, make: (params) => new Cost(params) };
