// The table of downloads. Only the visible rows are elements of the page, so that ten thousand downloads are as fast as
// thirty.

import { bytes, changeIcon, dayTime, element, icon, percent, rate, setField, span, stateText, timeLeft } from "./format.js";

const spacer = () => element("tr", { class: "space", "aria-hidden": "true" }, element("td"));
// Roles are necessary, because browsers forget the meaning of a table whose layout is no table.
const cell = (name, ...children) => element("td", { class: name, role: "cell" }, ...children);
const dragged = "application/x-dlm";
const idOf = (target) => Number(target.closest("tr")?.dataset.id);

// What the button of a row does in a state: its verb in the API, its picture and its name.
function rowAction(state) {
  if (["running", "queued", "waiting"].includes(state)) return ["pause", "pause", "Pause"];
  if (state === "paused") return ["resume", "resume", "Resume"];
  return state === "completed" ? null : ["resume", "retry", "Retry"];
}

export class List {
  chosen = new Set();
  rows = [];
  #nodes = new Map();
  #spare = [];
  #active = 0;
  #frame = null;

  constructor(box, body, actions) {
    this.box = box;
    this.body = body;
    this.actions = actions;
    this.table = body.closest("table");
    this.above = spacer();
    this.below = spacer();
    body.append(this.above, this.below);
    for (const [name, role] of [["thead, tbody", "rowgroup"], ["thead tr", "row"], ["th", "columnheader"]]) {
      for (const node of this.table.querySelectorAll(name)) node.setAttribute("role", role);
    }
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    this.#listen();
  }

  get current() { return this.rows[this.#active]; }
  get #height() { return parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row")); }

  show(rows) {
    const current = this.current?.id;
    this.rows = rows;
    const index = rows.findIndex((row) => row.id === current);
    this.#active = Math.max(0, Math.min(index >= 0 ? index : this.#active, rows.length - 1));
    this.draw();
  }

  top() {
    this.box.scrollTop = 0;
    this.#active = 0;
    this.draw();
  }

  draw() { this.#frame ??= requestAnimationFrame(() => { this.#frame = null; this.#drawNow(); }); }

  #drawNow() {
    const height = this.#height;
    const visible = Math.ceil(this.box.clientHeight / height) + 6;
    // After a search, the old scroll position can be far below the last row.
    const first = Math.max(0, Math.min(Math.floor(this.box.scrollTop / height) - 3, this.rows.length - visible));
    const last = Math.min(this.rows.length, first + visible + 1);
    const focused = this.body.contains(document.activeElement) ? this.current?.id : null;
    const wanted = this.rows.slice(first, last);
    const ids = new Set(wanted.map((row) => row.id));
    for (const [id, node] of this.#nodes) if (!ids.has(id)) this.#release(id, node);
    this.above.firstChild.style.height = `${first * height}px`;
    this.below.firstChild.style.height = `${(this.rows.length - last) * height}px`;
    let before = this.above;
    wanted.forEach((row, offset) => {
      const node = this.#nodes.get(row.id) ?? this.#take(row.id);
      if (before.nextSibling !== node.row) before.after(node.row);
      before = node.row;
      this.#fill(node, row, first + offset);
    });
    for (const node of this.#spare) node.row.remove();
    setField(this.table, "aria-rowcount", this.rows.length + 1);
    if (focused != null && document.activeElement === document.body) this.#nodes.get(focused)?.row.focus({ preventScroll: true });
  }

  // Elements of rows are used again, and in place if possible, because making and moving elements is slow.
  #release(id, node) {
    if (node.row.contains(document.activeElement)) document.activeElement.blur();
    this.#nodes.delete(id);
    this.#spare.push(node);
  }

  #take(id) {
    const node = this.#spare.shift() ?? this.#make();
    node.id = id;
    node.row.dataset.id = id;
    this.#nodes.set(id, node);
    return node;
  }

  #make() {
    const node = {
      box: element("input", { type: "checkbox", tabIndex: -1 }), mark: icon("queued"), title: element("span", { class: "title" }),
      state: element("span", { class: "state" }), fill: element("i"), text: element("b"), size: cell("number size"),
      speed: cell("number speed"), left: cell("number left"), added: cell("number added"),
      toggle: element("button", { type: "button", tabIndex: -1, class: "plain" }, icon("pause")),
    };
    node.name = cell("name", node.mark, node.title, " ", node.state);
    node.track = element("div", { class: "track", role: "progressbar", "aria-label": "Progress" }, node.fill);
    node.row = element("tr", { role: "row", draggable: String(matchMedia("(pointer: fine)").matches) },
      cell("pick", node.box), node.name, cell("bar", node.track, node.text), node.size, node.speed, node.left, node.added, cell("act", node.toggle));
    return node;
  }

  #listen() {
    const on = (kind, run, options) => this.body.addEventListener(kind, (event) => {
      const id = idOf(event.target);
      if (id) run(event, id, this.#nodes.get(id));
    }, options);
    on("focusin", (_, id) => { this.#active = this.rows.findIndex((row) => row.id === id); });
    on("change", ({ target }, id) => this.choose(id, target.checked));
    on("click", ({ target }, id, { row, verb }) => {
      if (target.closest("button")) return this.actions.perform(verb, id);
      if (!target.closest(".name")) return;
      row.focus();
      this.actions.open(id);
    });
    on("dragstart", (event, id) => event.dataTransfer.setData(dragged, id));
    on("dragover", (event, _, { row }) => {
      if (!event.dataTransfer.types.includes(dragged)) return;
      event.preventDefault();
      row.classList.add("over");
    });
    on("dragleave", (_, __, { row }) => row.classList.remove("over"));
    on("drop", (event, id, { row }) => {
      row.classList.remove("over");
      const moved = Number(event.dataTransfer.getData(dragged));
      if (moved) this.actions.move(moved, id);
    });
    on("contextmenu", (event, id) => {
      event.preventDefault();
      this.openMenu(id, event.clientX, event.clientY);
    });
    // Safari on phones sends no contextmenu event for a long press. The click that follows the press would open the details.
    let timer = null;
    for (const kind of ["touchmove", "touchcancel", "contextmenu"]) on(kind, () => clearTimeout(timer), { passive: true });
    on("touchend", (event) => { if (timer) clearTimeout(timer); else event.preventDefault(); });
    on("touchstart", ({ touches: [touch] }, id) => {
      clearTimeout(timer);
      timer = setTimeout(() => { timer = null; this.openMenu(id, touch.clientX, touch.clientY); }, 550);
    }, { passive: true });
  }

  openMenu(id, x, y) {
    const row = this.#nodes.get(id)?.row;
    if (!row) return;
    row.focus({ preventScroll: true });
    this.actions.menu(id, x, y);
  }

  openCurrentMenu() {
    const node = this.#nodes.get(this.current?.id);
    if (!node) return;
    const place = node.title.getBoundingClientRect();
    this.openMenu(node.id, place.left, place.bottom);
  }

  #fill(node, row, index) {
    const done = percent(row);
    const set = (target, text) => { if (target.textContent !== text) target.textContent = text; };
    const isChosen = this.chosen.has(row.id);
    setField(node.row, "class", row.state);
    node.row.tabIndex = index === this.#active ? 0 : -1;
    setField(node.row, "aria-rowindex", index + 2);
    setField(node.row, "aria-selected", isChosen);
    node.box.checked = isChosen;
    setField(node.box, "aria-label", `Choose ${row.name}`);
    changeIcon(node.mark, row.state);
    set(node.title, row.name);
    set(node.state, stateText(row));
    setField(node.name, "title", [row.name, row.url, row.error].filter(Boolean).join("\n"));
    node.fill.style.width = `${done ?? 0}%`;
    const progress = done != null ? `${done} %` : row.received ? bytes(row.received) : "—";
    set(node.text, progress);
    if (done == null) node.track.removeAttribute("aria-valuenow"); else setField(node.track, "aria-valuenow", done);
    setField(node.track, "aria-valuetext", progress);
    set(node.size, row.total ?? row.received ? bytes(row.total ?? row.received) : "");
    set(node.speed, rate(row.speed));
    set(node.left, span(timeLeft(row)));
    set(node.added, dayTime(row.created));
    this.#fillButtons(node, row);
  }

  #fillButtons(node, row) {
    const action = rowAction(row.state);
    node.toggle.hidden = !action;
    if (!action) return;
    const [verb, picture, word] = action;
    node.verb = verb;
    changeIcon(node.toggle.firstChild, picture);
    setField(node.toggle, "title", word);
    setField(node.toggle, "aria-label", `${word} ${row.name}`);
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

  go(index) {
    if (!this.rows.length) return;
    this.#active = Math.max(0, Math.min(index, this.rows.length - 1));
    const height = this.#height;
    const top = this.#active * height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + height * 2 > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + height * 2 - this.box.clientHeight;
    this.#drawNow();
    this.#nodes.get(this.current.id)?.row.focus({ preventScroll: true });
    // On a very low screen, the page itself scrolls, too.
    this.box.scrollIntoView({ block: "nearest" });
  }

  step(by) { this.go(this.#active + by); }
  pageSize() { return Math.max(1, Math.floor(this.box.clientHeight / this.#height) - 2); }
}
