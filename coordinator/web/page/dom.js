// Elements, made and changed without HTML in strings: what others wrote is text, whatever it holds.

// el("a", {href: "#/jobs", class: "x"}, "text", child)
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Touches nothing that is as it should be: a selection, or what a screen reader reads, stays.
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

// What a cell or a fact shows: text, or {text, href, title, class}.
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

// Names and values, in the order of the first call. facts.show([[name, shown], ...])
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

// A table whose rows are changed in place. columns: [{name, label, cell(row), number, sort}]; `onSort(name)` makes the
// labels of columns with `sort` buttons.
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
    // Narrow screens show rows as blocks; the roles say that it is a table all the same.
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
