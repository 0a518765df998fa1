// Shows the list of jobs.
import { ago, badge, duration, fixed, jobLink, left, money, number, plain, short, STATES, when } from "./format.js";
import { List } from "./list.js";

const spec = (row) => row.job.status.resolved_spec || {};
const status = (row) => row.job.status;
const cost = (row) => row.job.status.cost || {};

const NAME = { name: "name", label: "Job", sort: "up", cell: (row) => ({ text: plain(row.job.name), href: jobLink(row.job.uid) }) };
const STATE = { name: "state", label: "State", sort: "up", cell: (row) => ({ ...badge(status(row).state), title: plain(status(row).reason) }) };
const TEAM = { name: "team", label: "Team", sort: "up", cell: (row) => plain(spec(row).team) };
const spent = (label) => ({ name: "spent", label, sort: "down", number: true, cell: (row) => (cost(row).currency ? money(cost(row).spent, cost(row).currency) : "") });
const RATE = { name: "rate", label: "An hour", sort: "down", number: true, cell: (row) => (number(cost(row).rate) ? money(cost(row).rate, cost(row).currency) : "") };

const progress = (row) => `${fixed(status(row).step, 0)} of ${fixed(spec(row).training?.steps, 0)}`;
const eta = (row) => (left(status(row)) === null ? "" : duration(left(status(row))));

const STATE_FILTER = { name: "state", label: "State", options: [["active", "not over"], ...STATES.map((state) => [state, state.toLowerCase()])] };

class Jobs {
  constructor(params) {
    this.now = 0;
    this.list = new List({
      path: "#/jobs", question: "jobs", caption: "Jobs", params, first: { sort: "submitted", order: "down" },
      filters: [STATE_FILTER, { name: "team", label: "Team", options: [] }],
      columns: [NAME, STATE, { name: "progress", label: "Steps", sort: "down", number: true, cell: progress },
        { name: "eta", label: "Left", number: true, cell: eta },
        { name: "loss", label: "Loss", sort: "up", number: true, cell: (row) => (status(row).step ? fixed(status(row).loss, 4) : "") },
        { name: "speed", label: "Tokens/s", sort: "down", number: true, cell: (row) => (status(row).state === "RUNNING" ? short(status(row).tokens_per_second) : "") },
        { name: "workers", label: "Workers", number: true, cell: (row) => `${row.members} of ${number(spec(row).workers?.max)}` },
        TEAM, { name: "priority", label: "Priority", sort: "down", number: true, cell: (row) => fixed(spec(row).priority, 0) },
        { name: "submitted", label: "Submitted", sort: "down", number: true, cell: (row) => ({ text: ago(status(row).submitted_at, this.now), title: when(status(row).submitted_at) }) }, spent("Spent")],
    });
    this.element = this.list.element;
  }

  questions() {
    return [this.list.ask()];
  }

  show([answer], now, summary) {
    this.now = now;
    this.list.offer("team", (summary.teams || []).map((team) => [team, plain(team)]));
    this.list.show(answer, answer.jobs);
  }
}

export const jobs = { title: "Jobs", every: 2000, make: (params) => new Jobs(params) };

// Returns the list of jobs for the view of costs, sorted by what the jobs have spent.
export function dearest(params) {
  return new List({
    path: "#/cost", question: "jobs", caption: "Jobs by what they cost", params, first: { sort: "spent", order: "down" },
    filters: [STATE_FILTER, { name: "team", label: "Team", options: [] }],
    columns: [NAME, STATE, TEAM, spent("Spent"), RATE,
      { name: "forecast", label: "Forecast", number: true, cell: (row) => (number(cost(row).forecast) ? money(cost(row).forecast, cost(row).currency) : "") },
      { name: "budget", label: "Budget", number: true, cell: (row) => (number(cost(row).budget) ? money(cost(row).budget, cost(row).currency) : "") },
      { name: "on_demand", label: "On demand", number: true, cell: (row) => (number(cost(row).on_demand) ? money(cost(row).on_demand, cost(row).currency) : "") },
      { name: "carbon", label: "kg CO2", number: true, cell: (row) => (number(cost(row).carbon_node_hours) ? fixed(cost(row).kg_co2, 3) : "") }],
  });
}
