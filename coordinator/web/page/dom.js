// Makes and changes HTML elements without HTML in strings. So text from other people stays text, whatever it contains.

// Makes an HTML element. An example of a call is el("a", {href: "#/jobs", class: "x"}, "text", child).
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Sets the text of an element, but does not touch an element that already has the text. So a selection stays, and a
// screen reader can read on.
export function setText(element, text) {
  const plain = String(text);
  if (element.textContent !== plain) element.textContent = plain;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, value);
  }
}

// Fills an element of a table or of a list of facts. `shown` is a text or {text, href, title, class}.
export function fill(element, shown) {
  const { text = "", href = null, title = null, class: kind = null } = typeof shown === "object" ? shown : { text: shown };
  let holder = element;
  if (href) {
    if (!element.firstElementChild) element.replaceChildren(el("a"));
    holder = element.firstElementChild;
    setAttribute(holder, "href", href);
  } else if (element.firstElementChild) {
    element.replaceChildren();
  }
  setText(holder, text);
  setAttribute(element, "title", title);
  setAttribute(element, "class", kind);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Shows pairs of a name and a value, in the order in which they were first passed to `show`. An example of a call is
// facts.show([[name, shown], ...]).
export class Facts {
  constructor() {
    this.element = el("dl", { class: "facts" });
    this.values = new Map();
  }

  show(pairs) {
    for (const [name, shown] of pairs) {
      let value = this.values.get(name);
      if (!value) {
        value = el("dd");
        this.element.append(el("div", {}, el("dt", {}, name), value));
        this.values.set(name, value);
      }
      fill(value, shown);
      setAttribute(value.parentElement, "hidden", shown === "" || (typeof shown === "object" && shown.text === ""));
    }
  }
}

// Shows a table and changes its rows in place. `columns` is a list of {name, label, cell(row), number, sort}. If
// `onSort` is given, the label of each column with `sort` is a button that calls `onSort(name)`.
export class Table {
  constructor(caption, columns, onSort = null) {
    this.columns = columns;
    this.heads = columns.map((column) => {
      const label = onSort && column.sort ? el("button", { type: "button" }, column.label) : column.label;
      const head = el("th", { scope: "col", role: "columnheader", class: column.number ? "number" : null }, label);
      if (onSort && column.sort) head.firstElementChild.addEventListener("click", () => onSort(column.name));
      return head;
    });
    this.body = el("tbody", { role: "rowgroup" });
    // Narrow screens show the rows of a table as blocks. The roles tell a screen reader that it is a table even then.
    this.element = el("table", { role: "table", class: "grid" }, el("caption", {}, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...this.heads)), this.body);
  }

  sorted(name, descending) {
    this.heads.forEach((head, i) => {
      const direction = descending ? "descending" : "ascending";
      setAttribute(head, "aria-sort", this.columns[i].name === name ? direction : null);
    });
  }

  show(rows) {
    while (this.body.rows.length > rows.length) this.body.lastElementChild.remove();
    rows.forEach((row, i) => {
      const line = this.body.rows[i] || this.body.appendChild(this.newRow());
      this.columns.forEach((column, c) => {
        const shown = column.cell(row);
        const kind = [column.number ? "number" : "", typeof shown === "object" ? shown.class || "" : ""].join(" ").trim();
        fill(line.cells[c].firstElementChild, typeof shown === "object" ? { ...shown, class: kind } : { text: shown, class: kind });
      });
    });
  }

  newRow() {
    return el("tr", { role: "row" }, ...this.columns.map((column) =>
      el("td", { role: "cell", "data-label": column.label, class: column.number ? "number" : null }, el("span"))));
  }
}
