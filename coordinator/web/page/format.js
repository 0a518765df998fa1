// Formats numbers, times and names as people read them.

// `UNFIT` matches control characters, which a terminal would obey, and characters that change the direction of text.
// `plain` shows each of them as a replacement mark.
const UNFIT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
export const plain = (text) => String(text ?? "").replace(UNFIT, "\ufffd");

// Returns a number of an answer. An absent field means 0. A value that is not finite is a word in the answer.
export const number = (value) => (value === undefined ? 0 : Number(value));

export function fixed(value, digits) {
  const read = number(value);
  return Number.isFinite(read) ? read.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) : String(value);
}

export function short(value) {
  const read = number(value);
  for (const [size, mark] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (read >= size) return `${fixed(read / size, 1)}${mark}`;
  return fixed(read, 0);
}

export function money(value, currency) {
  const read = number(value);
  const small = read > -1 && read < 1 && read !== 0;
  return `${fixed(read, small ? 4 : 2)}${currency ? ` ${plain(currency)}` : ""}`;
}

// Formats a duration with its two largest units, such as "3 h 5 min".
export function duration(seconds) {
  const whole = Math.max(0, Math.round(number(seconds)));
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => whole >= size);
  if (first < 0) return "0 s";
  let left = whole;
  const parts = [];
  for (const [size, mark] of units.slice(first, first + 2)) {
    if (left >= size) parts.push(`${Math.floor(left / size)} ${mark}`);
    left %= size;
  }
  return parts.join(" ");
}

export const ago = (then, now) => (number(then) > 0 ? `${duration(now - then)} ago` : "");

const two = (part) => String(part).padStart(2, "0");

// Formats a time as local time, such as "2026-11-26 01:28:31".
export function when(seconds) {
  if (!(number(seconds) > 0)) return "";
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(seconds)}`;
}

export function clock(seconds) {
  const at = new Date(seconds * 1000);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export const jobLink = (name) => `#/job?name=${encodeURIComponent(name)}`;

// `STATES` lists the states of a job. The badge of a job shows its state in words and has the class of its colour.
export const STATES = ["PENDING", "RUNNING", "PAUSED", "FINISHING", "FOUND", "SUCCEEDED", "FAILED", "CANCELLED"];
export const isOver = (state) => ["SUCCEEDED", "FAILED", "CANCELLED"].includes(state);
export const badge = (state) => ({ text: state.toLowerCase(), class: `badge ${state.toLowerCase()}` });

// Returns whether a fault is a change of members that somebody wanted. Such a change is recorded as a fault because it
// cost a pause.
export const isWanted = (fault) => ["drained", "node_added"].includes(fault.kind);

// Returns the seconds until the last step is done, or null if they are not known.
export function left(status) {
  const steps = number(status.resolved_spec?.training?.steps) - number(status.step);
  const each = number(status.step_seconds);
  return status.state === "RUNNING" && each > 0 && steps > 0 ? steps * each : null;
}
