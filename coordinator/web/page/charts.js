// Draws the curves of a job with uPlot.
/* global uPlot */
import { el, setText, Table } from "./dom.js";
import { clock, fixed, isWanted, number, short, when } from "./format.js";

const HEIGHT = 220;
// The table with a figure's values has at most `ROWS` rows.
const ROWS = 40;

// Returns the colour that CSS gives to the class `name`. A canvas does not follow the dark or light theme by itself.
function colour(name) {
  const probe = el("span", { class: `ink ${name}`, hidden: true });
  document.body.append(probe);
  const seen = getComputedStyle(probe).color;
  probe.remove();
  return seen;
}

// Shows one figure: a chart, a caption that says in words what the chart shows, and the values as a table. The words
// and the table are for people who cannot see the chart.
class Figure {
  constructor(title, { series, x, values, marks = false }) {
    this.title = title;
    // `series` is a list of {label, ink, text(value)}, and `x` is {label, time, text(value)}.
    this.series = series;
    this.x = x;
    // `marks` is a list of {at}, the times of faults. Each fault is drawn as a line.
    this.marks = [];
    this.withMarks = marks;
    this.data = null;
    this.plot = null;
    this.holder = el("div", { class: "plot", role: "img" });
    this.caption = el("figcaption");
    this.table = new Table(`Values of ${title}`, [{ name: "x", label: x.label, number: true, cell: (row) => x.text(row[0]) },
      ...series.map(({ label, text }, i) => ({ name: label, label, number: true, cell: (row) => (row[i + 1] === null ? "" : text(row[i + 1])) }))]);
    this.values = el("details", {}, el("summary", {}, values), this.table.element);
    this.values.addEventListener("toggle", () => this.showValues());
    this.element = el("figure", {}, el("h3", {}, title), this.holder, this.caption, this.values);
    new ResizeObserver(() => this.fit()).observe(this.holder);
    document.addEventListener("themechange", () => this.restart());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restart());
  }

  // Shows new values. `data` is [xs, ys, ...]. A value is null if the series has no value at that x.
  show(data, said, marks = []) {
    setText(this.caption, said);
    this.holder.setAttribute("aria-label", `${this.title}: ${said}`);
    this.marks = marks;
    this.data = data;
    if (this.plot) this.plot.setData(data);
    else this.start();
    this.showValues();
  }

  showValues() {
    if (!this.values.open || !this.data) return;
    const count = this.data[0].length;
    const every = Math.max(1, Math.ceil(count / ROWS));
    const rows = [];
    for (let i = count - 1; i >= 0; i -= every) rows.push(this.data.map((values) => values[i]));
    this.table.show(rows);
  }

  restart() {
    if (!this.plot || !this.holder.isConnected) return;
    this.plot.destroy();
    this.plot = null;
    this.start();
  }

  start() {
    const width = this.holder.clientWidth;
    if (!width || !this.data) return;
    const ink = colour("text"), grid = { stroke: colour("line"), width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    this.plot = new uPlot({
      width, height: HEIGHT, cursor: { y: false }, legend: { live: true },
      scales: { x: { time: this.x.time } },
      axes: [{ ...axis, space: this.x.time ? 75 : 50, values: (_, values) => values.map((value) => (this.x.time ? timeOf(value, values) : fixed(value, 0))) },
        { ...axis, size: 60, values: (_, values) => values.map((value) => short3(value)) }],
      series: [{ label: this.x.label, value: (_, value) => (value === null || value === undefined ? "" : this.x.text(value)) },
        ...this.series.map(({ label, ink: name, text }) => ({
          label, stroke: colour(name), width: 2, spanGaps: true, points: { show: false },
          value: (_, value) => (value === null || value === undefined ? "" : text(value)) }))],
      hooks: { draw: [(plot) => this.drawMarks(plot)] },
    }, this.data, this.holder);
  }

  drawMarks(plot) {
    if (!this.withMarks) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour("bad");
    ctx.setLineDash([4, 4]);
    for (const { at } of this.marks) {
      if (at < plot.scales.x.min || at > plot.scales.x.max) continue;
      const x = Math.round(plot.valToPos(at, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  fit() {
    if (!this.plot) this.start();
    else if (this.holder.clientWidth) this.plot.setSize({ width: this.holder.clientWidth, height: HEIGHT });
  }
}

// Returns a time as a label of the time axis. The closer the labels are to each other, the more exact they are.
function timeOf(value, values) {
  const apart = values.length > 1 ? values[1] - values[0] : 60;
  if (apart >= 86400) return when(value).slice(5, 10);
  return apart < 60 ? clock(value) : clock(value).slice(0, 5);
}

function short3(value) {
  if (Math.abs(value) >= 1000) return short(value);
  return String(Number(value.toPrecision(4)));
}

const finite = (value) => {
  const read = number(value);
  return Number.isFinite(read) ? read : null;
};

// Shows the training loss and the validation loss over the steps.
export class LossFigure {
  constructor() {
    const text = (value) => fixed(value, 4);
    this.figure = new Figure("Loss", {
      x: { label: "Step", time: false, text: (value) => fixed(value, 0) }, values: "Values of the loss",
      series: [{ label: "Training", ink: "first", text }, { label: "Validation", ink: "second", text }] });
    this.element = this.figure.element;
  }

  show(status) {
    const steps = new Map();
    for (const [curve, at] of [[status.loss_curve, 0], [status.validation_curve, 1]]) {
      for (const point of curve || []) {
        const step = number(point.step);
        if (!steps.has(step)) steps.set(step, [null, null]);
        steps.get(step)[at] = finite(point.value);
      }
    }
    const xs = [...steps.keys()].sort((a, b) => a - b);
    const said = [`training ${status.step ? fixed(status.loss, 4) : "not known yet"}`];
    if (status.validation_loss) said.push(`validation ${fixed(status.validation_loss, 4)}`);
    if (status.validation_bits_per_byte) said.push(`${fixed(status.validation_bits_per_byte, 4)} bits a byte`);
    this.figure.show([xs, xs.map((x) => steps.get(x)[0]), xs.map((x) => steps.get(x)[1])], `${said.join(", ")}; step ${fixed(status.step, 0)}`);
  }
}

// Shows the tokens per second over time. Each fault of the job is a line.
export class SpeedFigure {
  constructor() {
    this.figure = new Figure("Speed", {
      x: { label: "Time", time: true, text: (value) => clock(value) }, values: "Values of the speed", marks: true,
      series: [{ label: "Tokens a second", ink: "first", text: (value) => fixed(value, 0) }] });
    this.element = this.figure.element;
  }

  show(samples, status) {
    const faults = (status.faults || []).filter((fault) => !isWanted(fault)).map((fault) => ({ at: number(fault.at) }));
    const within = samples.length ? faults.filter(({ at }) => at >= samples[0][0]).length : 0;
    const said = samples.length ? `${short(samples[samples.length - 1][2])} tokens a second at ${clock(samples[samples.length - 1][0])}`
      : "not measured since this coordinator started";
    this.figure.show([samples.map((s) => s[0]), samples.map((s) => finite(s[2]))], within ? `${said}; ${within === 1 ? "a fault, as a dashed line" : `${fixed(within, 0)} faults, as dashed lines`}` : said, faults);
  }
}
