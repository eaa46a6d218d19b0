// The table of downloads. Only the visible rows are elements of the page, so that ten thousand downloads are as fast as
// thirty.

import { bytes, element, percent, rate, span, words } from "./format.js";

export class List {
  chosen = new Set();
  rows = [];
  #nodes = new Map();
  #active = 0;
  #frame = null;

  constructor(box, body, actions) {
    this.box = box;
    this.body = body;
    this.actions = actions;
    this.table = body.closest("table");
    this.above = element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colSpan: 6 }));
    this.below = element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colSpan: 6 }));
    body.append(this.above, this.below);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    body.addEventListener("focusin", (event) => {
      const id = Number(event.target.closest("tr")?.dataset.id);
      const index = this.rows.findIndex((row) => row.id === id);
      if (index >= 0) this.#active = index;
    });
  }

  get current() { return this.rows[this.#active]; }

  show(rows) {
    const current = this.current?.id;
    this.rows = rows;
    const index = rows.findIndex((row) => row.id === current);
    if (index >= 0) this.#active = index;
    this.#active = Math.max(0, Math.min(this.#active, rows.length - 1));
    this.draw();
  }

  draw() { this.#frame ??= requestAnimationFrame(() => { this.#frame = null; this.#drawNow(); }); }

  #drawNow() {
    const height = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - 5);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / height) + 5);
    const focused = this.body.contains(document.activeElement) ? this.current?.id : null;
    const wanted = this.rows.slice(first, last);
    const ids = new Set(wanted.map((row) => row.id));
    for (const [id, node] of this.#nodes) if (!ids.has(id)) { node.row.remove(); this.#nodes.delete(id); }
    this.above.firstChild.style.height = `${first * height}px`;
    this.below.firstChild.style.height = `${(this.rows.length - last) * height}px`;
    let before = this.above;
    wanted.forEach((row, offset) => {
      const node = this.#nodes.get(row.id) ?? this.#make(row.id);
      if (before.nextSibling !== node.row) before.after(node.row);
      before = node.row;
      this.#fill(node, row, first + offset);
    });
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    if (focused != null && document.activeElement === document.body) this.#nodes.get(focused)?.row.focus({ preventScroll: true });
  }

  #make(id) {
    const box = element("input", { type: "checkbox", tabIndex: -1 });
    const node = {
      box, name: element("td", { class: "name" }), fill: element("i"), text: element("b"),
      size: element("td", { class: "number size" }), speed: element("td", { class: "number" }),
      left: element("td", { class: "number" }), title: element("span"), state: element("span", { class: "state" }),
    };
    node.name.append(node.title, " ", node.state);
    node.track = element("div", { class: "track", role: "progressbar", "aria-valuemin": "0", "aria-valuemax": "100" }, node.fill, node.text);
    node.row = element("tr", { draggable: "true", "data-id": String(id) },
      element("td", { class: "pick" }, box), node.name, element("td", { class: "bar" }, node.track), node.size, node.speed, node.left);
    box.addEventListener("change", () => this.choose(id, box.checked));
    node.name.addEventListener("click", () => { node.row.focus(); this.actions.open(id); });
    this.#drag(node.row, id);
    this.#nodes.set(id, node);
    return node;
  }

  #drag(row, id) {
    row.addEventListener("dragstart", (event) => event.dataTransfer.setData("application/x-dlm", String(id)));
    row.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("application/x-dlm")) return;
      event.preventDefault();
      row.classList.add("over");
    });
    row.addEventListener("dragleave", () => row.classList.remove("over"));
    row.addEventListener("drop", (event) => {
      row.classList.remove("over");
      const moved = Number(event.dataTransfer.getData("application/x-dlm"));
      if (!moved) return;
      event.preventDefault();
      this.actions.move(moved, id);
    });
  }

  #fill(node, row, index) {
    const done = percent(row);
    const set = (target, text) => { if (target.textContent !== text) target.textContent = text; };
    const isChosen = this.chosen.has(row.id);
    node.row.className = row.state;
    node.row.tabIndex = index === this.#active ? 0 : -1;
    node.row.setAttribute("aria-rowindex", index + 2);
    node.row.setAttribute("aria-selected", isChosen);
    node.box.checked = isChosen;
    node.box.setAttribute("aria-label", `Choose ${row.name}`);
    set(node.title, row.name);
    set(node.state, row.state === "failed" && row.error ? `failed: ${row.error}` : words[row.state] ?? row.state);
    node.name.title = row.url;
    node.fill.style.width = `${done ?? 0}%`;
    set(node.text, done != null ? `${done} %` : row.received ? bytes(row.received) : "");
    if (done == null) node.track.removeAttribute("aria-valuenow"); else node.track.setAttribute("aria-valuenow", done);
    node.track.setAttribute("aria-valuetext", node.text.textContent);
    node.track.setAttribute("aria-label", `Progress of ${row.name}`);
    set(node.size, row.total ?? row.received ? bytes(row.total ?? row.received) : "");
    set(node.speed, rate(row.speed));
    set(node.left, row.speed > 0 && row.total ? span((row.total - row.received) / row.speed) : "");
  }

  choose(id, on = !this.chosen.has(id)) {
    if (on) this.chosen.add(id); else this.chosen.delete(id);
    this.actions.chosen();
    this.draw();
  }

  chooseAll(on) {
    this.chosen = new Set(on ? this.rows.map((row) => row.id) : []);
    this.actions.chosen();
    this.draw();
  }

  // Moves the focus to a row, and scrolls until the row is visible.
  go(index) {
    if (!this.rows.length) return;
    this.#active = Math.max(0, Math.min(index, this.rows.length - 1));
    const height = parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    const top = this.#active * height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + height * 2 > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + height * 2 - this.box.clientHeight;
    this.#drawNow();
    this.#nodes.get(this.current.id)?.row.focus({ preventScroll: true });
  }

  step(by) { this.go(this.#active + by); }
  pageSize() { return Math.max(1, Math.floor(this.box.clientHeight / 44) - 2); }
}
