// Shows a list that the coordinator filters, sorts and cuts into pages. The browser's address contains the whole
// question, so that going back, reloading and sending a link work.
import { el, setAttribute, setText, Table } from "./dom.js";
import { fixed } from "./format.js";

const PAGE = 100;
const TYPING_MS = 250;

export class List {
  // `path` is the address of the view, such as "#/jobs". `question` is "jobs" or "nodes". `filters` is a list of {name,
  // label, options: [[value, label]]}.
  constructor({ path, question, caption, columns, params, filters, first }) {
    this.path = path;
    this.question = question;
    this.params = { sort: first.sort, order: first.order, ...params };
    this.filters = new Map();
    this.table = new Table(caption, columns, (name) => this.sortBy(name, columns.find((c) => c.name === name).sort));
    this.count = el("p", { class: "count", role: "status" });
    this.pager = ["Previous", "Next"].map((label, i) => {
      const button = el("button", { type: "button" }, label);
      button.addEventListener("click", () => this.go({ page: this.page() + (i ? 1 : -1) }));
      return button;
    });
    this.element = el("section", { "aria-label": caption }, this.form(filters), this.count, this.table.element,
      el("nav", { class: "pager", "aria-label": `Pages of ${caption.toLowerCase()}` }, ...this.pager));
    this.table.sorted(this.params.sort, this.params.order === "down");
  }

  form(filters) {
    const search = el("input", { type: "search", id: "search", value: this.params.q || "", autocomplete: "off", spellcheck: "false" });
    let typing = 0;
    search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.go({ q: search.value, page: 1 }), TYPING_MS);
    });
    const form = el("form", { class: "filters", role: "search" }, el("label", {}, "Name has ", search));
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const { name, label, options } of filters) {
      const select = el("select", { name });
      select.addEventListener("change", () => this.go({ [name]: select.value, page: 1 }));
      this.filters.set(name, select);
      form.append(el("label", {}, `${label} `, select));
      this.offer(name, options);
    }
    return form;
  }

  // Sets the options of a filter. The option that the user has chosen stays chosen.
  offer(name, options) {
    const select = this.filters.get(name);
    const wanted = this.params[name] || "";
    const all = [["", "any"], ...options];
    if (wanted && !all.some(([value]) => value === wanted)) all.push([wanted, wanted]);
    if (select.options.length !== all.length || all.some(([value], i) => select.options[i].value !== value)) {
      select.replaceChildren(...all.map(([value, label]) => el("option", { value }, label)));
    }
    all.forEach(([, label], i) => setText(select.options[i], label));
    if (document.activeElement !== select) select.value = wanted;
  }

  page() {
    return Math.max(1, Number(this.params.page) || 1);
  }

  sortBy(name, first) {
    const same = this.params.sort === name;
    const order = same ? (this.params.order === "down" ? "up" : "down") : first;
    this.go({ sort: name, order, page: 1 });
  }

  // Changes the question to the coordinator and asks it at once. The current entry of the browser's history is
  // replaced, so that each typed letter does not make a new entry.
  go(change) {
    Object.assign(this.params, change);
    const said = new URLSearchParams(Object.entries(this.params).filter(([name, value]) => value && !(name === "page" && value === 1)));
    history.replaceState(null, "", `${this.path}?${said}`);
    this.table.sorted(this.params.sort, this.params.order === "down");
    document.dispatchEvent(new Event("asknow"));
  }

  ask() {
    const { page, ...asked } = this.params;
    const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
    query.set("limit", PAGE);
    query.set("offset", (this.page() - 1) * PAGE);
    return `${this.question}?${query}`;
  }

  show({ matching, all }, rows) {
    const begin = (this.page() - 1) * PAGE;
    const range = rows.length ? `${fixed(begin + 1, 0)} to ${fixed(begin + rows.length, 0)} of ` : "";
    const of = matching === all ? fixed(all, 0) : `${fixed(matching, 0)}, chosen from ${fixed(all, 0)}`;
    setText(this.count, rows.length || matching ? `${range}${of}` : all ? `none of ${fixed(all, 0)}` : "none yet");
    this.table.show(rows);
    setAttribute(this.pager[0], "disabled", begin === 0);
    setAttribute(this.pager[1], "disabled", begin + rows.length >= matching);
    setAttribute(this.pager[0].parentElement, "hidden", matching <= PAGE);
  }
}
