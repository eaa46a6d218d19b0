import { add, badLines, hasAddress, prepare, takeFiles } from "./add.js";
import { Busy, call, Downloads, Refused, setSecret, takeSecret } from "./api.js";
import { show as showDetails } from "./details.js";
import { clockTime, count, element, icon, parseRate, rate, recall, remember, span, timeLeft } from "./format.js";
import { List } from "./list.js";
import { copy, openMenu } from "./menu.js";

const $ = (id) => document.getElementById(id);
const one = (selector) => document.querySelector(selector);
const each = (selector) => document.querySelectorAll(selector);
const mark = (node, name, value) => (value ? node.setAttribute(name, value) : node.removeAttribute(name));
const put = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; };
const downloads = new Downloads();
const known = downloads.rows;
const rowsIn = (...states) => [...known.values()].filter((row) => states.includes(row.state));
let shown = null;
let speeds = [];
let isFollowing = false;

const groups = {
  all: null, running: ["running"], waiting: ["queued", "waiting", "paused"], finished: ["completed"], failed: ["failed"], cancelled: ["cancelled"],
};
const order = { running: 0, waiting: 1, queued: 2, paused: 3, failed: 4, cancelled: 5, completed: 6 };
const isQueued = (row) => groups.waiting.includes(row.state);
const isDone = (row) => row.state === "completed";
const isActive = (row) => ["running", "queued", "waiting"].includes(row.state);

// The filter is part of the page's address, so that users can save and share it.

const address = () => new URLSearchParams(location.hash.slice(1));
const filter = () => (address().get("state") in groups ? address().get("state") : "all");
const search = () => (address().get("q") ?? "").toLowerCase();

const inQueue = (one, other) => other.priority - one.priority || one.id - other.id;

function before(one, other) {
  return order[one.state] - order[other.state] || (isQueued(one) ? inQueue(one, other) : other.id - one.id);
}

// Names are compared by a key in which numbers have leading zeros: a2 precedes a10.
function nameKey(row) {
  if (row.keyOf !== row.name) row.key = (row.keyOf = row.name).toLowerCase().replace(/\d{1,12}/g, (digits) => digits.padStart(12, "0"));
  return row.key;
}

const sortKeys = {
  name: nameKey, size: (row) => row.total ?? row.received ?? 0, speed: (row) => row.speed, left: timeLeft, added: (row) => row.id,
};
let [sortName, sortSign] = recall("dlm-sort") ?? ["", 1];

function bySort(one, other) {
  const [mine, theirs] = [sortKeys[sortName](one), sortKeys[sortName](other)];
  return mine === theirs ? before(one, other) : mine < theirs ? -sortSign : sortSign;
}

function sortBy(name, sign = firstSign(name)) {
  [sortName, sortSign] = [name, sign];
  remember("dlm-sort", [name, sign]);
  drawSort();
  list.top();
  draw();
}

// The third click on a header leads back to the order of the queue.
const firstSign = (name) => (["name", "left"].includes(name) ? 1 : -1);
function turnSort(name) {
  if (sortName === name && sortSign !== firstSign(name)) sortBy("");
  else sortBy(name, sortName === name ? -sortSign : firstSign(name));
}

function drawSort() {
  for (const head of each("[data-sort]")) {
    mark(head, "aria-sort", head.dataset.sort === sortName && (sortSign > 0 ? "ascending" : "descending"));
  }
  $("order").value = sortName;
}

// All rows in the order of the last drawing. Sorting nearly sorted rows is fast.
let ordered = [];
function sortedRows() {
  if (ordered.length !== known.size || ordered.some((row) => known.get(row.id) !== row)) ordered = [...known.values()];
  return ordered.sort(sortKeys[sortName] ? bySort : before);
}

let pending = null;
function refresh() { pending ??= setTimeout(() => { pending = null; draw(); }, 60); }

function draw() {
  const counts = Object.fromEntries(Object.keys(groups).map((name) => [name, 0]));
  const [states, text, rows] = [groups[filter()], search(), []];
  for (const row of sortedRows()) {
    for (const name in groups) if (groups[name]?.includes(row.state) ?? true) counts[name]++;
    if (states && !states.includes(row.state)) continue;
    if (!text || `${row.name}\n${row.url}`.toLowerCase().includes(text)) rows.push(row);
  }
  drawViews(counts);
  for (const id of list.chosen) if (!known.has(id)) list.chosen.delete(id);
  list.show(rows);
  $("list").setAttribute("aria-busy", downloads.isLoading);
  $("empty").hidden = rows.length > 0;
  put("empty", !downloads.news ? "Loading …" : text ? `Nothing matches “${address().get("q")}”.` : counts.all ? "No downloads in this view." : "No downloads yet. Paste addresses here, drop a list, or press Add.");
  drawChosen();
}

function drawViews(counts) {
  for (const name in counts) one(`[data-count=${name}]`).textContent = counts[name] + (downloads.isLoading ? "+" : "");
  for (const link of each("nav a")) mark(link, "aria-current", link.hash === `#state=${filter()}` && "page");
  one("nav a[href$=cancelled]").hidden = !counts.cancelled && filter() !== "cancelled";
  $("retry").hidden = !counts.failed || !["all", "failed"].includes(filter());
  $("retry").lastChild.textContent = `Retry all failed (${counts.failed})`;
  $("clear").hidden = !counts.finished || !["all", "finished"].includes(filter());
}

// Buttons and keys act on the chosen downloads, else on the row with the focus, else on the shown details.
function targets() {
  const ids = list.chosen.size ? [...list.chosen]
    : list.current && document.activeElement?.closest("#rows") ? [list.current.id] : shown != null ? [shown] : [];
  return ids.map((id) => known.get(id)).filter(Boolean);
}

const fits = {
  pause: isActive, resume: (row) => !["running", "queued", "completed"].includes(row.state),
  cancel: (row) => !["completed", "cancelled"].includes(row.state), remove: () => true,
};

function drawChosen() {
  const count = list.chosen.size;
  put("chosen", count ? `${count} chosen` : "");
  const rows = targets();
  for (const button of each("#tools [data-do]")) button.disabled = !rows.some(fits[button.dataset.do]);
  $("all").checked = count > 0 && count === list.rows.length;
  $("all").indeterminate = count > 0 && count < list.rows.length;
}

const list = new List($("list"), $("rows"), {
  open, chosen: drawChosen, menu: openRowMenu,
  perform: (verb, id) => act(verb, [known.get(id)]),
  move: (id, target) => run(() => moveBefore(id, target)),
});

const say = (text) => { $("live").textContent = text; };

let noteTimer = null;
function tell(text) {
  say(text);
  put("note", text);
  $("note").hidden = false;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => { $("note").hidden = true; }, 8000);
}

async function run(body) {
  try { return await body(); } catch (error) {
    if (error instanceof Refused) return login(error.message);
    tell(textOf(error));
  }
}

async function inBatches(rows, send) {
  for (let at = 0; at < rows.length; at += 1000) await send(rows.slice(at, at + 1000).map((row) => row.id));
}

const perform = (verb, rows, body = {}) => inBatches(rows, (ids) => call("POST", `/downloads/${verb}`, { ids, ...body }));
const patch = (rows, change) => inBatches(rows, (ids) => call("PATCH", "/downloads", { ids, ...change }));

function act(verb, rows = targets()) {
  if (!rows.length) return tell("Choose a download first");
  if (verb === "remove") return askToRemove(rows, rows.length === 1 ? "Remove from the list?" : `Remove ${rows.length} downloads from the list?`);
  const fitting = rows.filter(fits[verb]);
  if (fitting.length) return run(() => perform(verb, fitting));
}

const retryAll = () => act("resume", rowsIn("failed"));

function clearFinished() {
  const rows = rowsIn("completed");
  askToRemove(rows, `Clear ${count(rows.length, "finished download")} from the list?`);
}

function askToRemove(rows, title) {
  const files = rows.filter(isDone);
  put("removing-title", title);
  const doomed = rows.slice(0, 20).map((row) => row.name).concat(rows[20] ? "…" : []);
  $("doomed").replaceChildren(...doomed.map((text) => element("li", { text })));
  $("with-file").checked = false;
  $("with-file").parentElement.hidden = !files.length;
  put("with-file-text", files.length === 1 ? `Also delete the file ${files[0].path ?? files[0].name}` : `Also delete the ${files.length} finished files`);
  openDialog($("removing"), async () => {
    const deleted = $("with-file").checked ? files : [];
    await perform("remove", deleted, { deleteFile: true });
    await perform("remove", rows.filter((row) => !deleted.includes(row)));
  });
}

function askForText(title, text, label, value, submit) {
  put("asking-title", title);
  put("asking-text", text);
  put("asking-label", label);
  $("answer").value = value;
  openDialog($("asking"), () => submit($("answer").value.trim()));
  $("answer").select();
}

const names = (rows) => (rows.length === 1 ? rows[0].name : `${rows.length} downloads`);

function askForLimit(rows) {
  askForText("Speed limit", names(rows), "Limit, such as 300K or 2M, or none", rate(rows[0].rateLimit) || "none", (text) => patch(rows, { rateLimit: parseRate(text) }));
}

function askForPriority(rows) {
  askForText("Priority", `${names(rows)}. Higher numbers run first.`, "Priority", String(rows[0].priority), async (text) => {
    if (!/^-?\d{1,6}$/.test(text)) throw new Error("Give a whole number, such as 5 or -1");
    await patch(rows, { priority: Number(text) });
  });
}

function askForURL(row) {
  askForText("New URL", `${row.name}. For a link that has expired.`, "Address", row.url, async (url) => {
    await call("PATCH", `/downloads/${row.id}`, { url });
    if (fits.resume(row)) await perform("resume", [row]);
  });
}

const copyLines = (lines) => run(async () => {
  await copy(lines.join("\n"));
  tell("Copied");
});

function openRowMenu(id, x, y) {
  const isGroup = list.chosen.has(id) && list.chosen.size > 1;
  const rows = isGroup ? targets() : [known.get(id)];
  const paths = rows.map((row) => row.path).filter(Boolean);
  const areDone = rows.every(isDone);
  const item = (text, run, disabled, key) => ({ text, run, disabled, key });
  const verb = (name, text, key) => item(text, () => act(name, rows), !rows.some(fits[name]), key);
  openMenu([
    item("Details", () => open(id), isGroup, "Enter"), verb("pause", "Pause", "p"),
    verb("resume", rows.some((row) => ["failed", "cancelled"].includes(row.state)) ? "Retry" : "Resume", "r"), null,
    item("Copy link", () => copyLines(rows.map((row) => row.url))), item("Copy path", () => copyLines(paths), !paths.length), null,
    item("Speed limit…", () => askForLimit(rows), areDone), item("Priority…", () => askForPriority(rows), areDone),
    item("New URL…", () => askForURL(rows[0]), isGroup || areDone), null, verb("cancel", "Cancel", "c"), verb("remove", "Remove…", "Delete"),
  ], x, y, `Menu of ${names(rows)}`);
}

// Moves a download to the place before another in the queue. The places result from the priorities.
async function moveBefore(id, target) {
  const rest = rowsIn("queued", "paused", "waiting").sort(inQueue).filter((row) => row.id !== id);
  const at = rest.findIndex((row) => row.id === target);
  if (sortName || at < 0 || !isQueued(known.get(id))) return tell("Only waiting downloads can be moved, and only in queue order");
  const changes = [];
  const above = (row, next) => {
    const priority = next.priority + (row.id < next.id ? 0 : 1);
    if (priority !== row.priority) changes.push({ id: row.id, priority });
    return { id: row.id, priority };
  };
  let next = above(known.get(id), rest[at]);
  for (let place = at - 1; place >= 0 && inQueue(rest[place], next) > 0; place--) next = above(rest[place], next);
  for (const change of changes) await call("PATCH", `/downloads/${change.id}`, { priority: change.priority });
}

function step(by) {
  const row = list.current;
  if (!row) return;
  const index = list.rows.indexOf(row);
  const other = list.rows[by < 0 ? index - 1 : index + 2];
  if (sortName || other) return run(() => moveBefore(row.id, other?.id));
  const last = list.rows.at(-1);
  if (by > 0 && last !== row) run(() => call("PATCH", `/downloads/${row.id}`, { priority: last.priority - 1 }));
}

function open(id) {
  shown = id;
  $("details").hidden = false;
  refreshDetails();
  drawChosen();
}

function close() {
  shown = null;
  $("details").hidden = true;
  delete $("details").dataset.id;
  $("details").replaceChildren();
  list.step(0);
}

const repair = (id) => run(async () => {
  const { url, folder, name, record } = await call("GET", `/downloads/${id}`);
  await call("POST", "/downloads", { urls: [url], folder, file: name, repair: true, ifExists: "overwrite", pieces: record.request.pieces });
});

async function actInDetails(verb, id) {
  const row = known.get(id);
  if (!row) return close();
  const special = { limit: () => askForLimit([row]), url: () => askForURL(row), repair: () => repair(id) };
  await (special[verb]?.() ?? act(verb, [row]));
  refreshDetails();
}

async function refreshDetails() {
  if (shown == null) return;
  await run(() => showDetails($("details"), shown, known.get(shown), { close, act: actInDetails, isShown: (id) => shown === id }));
}

// Shows a dialog. It closes after `submit`, unless `submit` fails or returns true.
function openDialog(dialog, submit) {
  const problem = dialog.querySelector(".problem");
  problem.textContent = "";
  const form = dialog.querySelector("form");
  dialog.submit = async (body = submit) => {
    problem.textContent = "";
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try { if (!await body()) dialog.close(); } catch (error) { problem.textContent = textOf(error); }
    for (const button of buttons) button.disabled = false;
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    dialog.submit();
  };
  if (!dialog.open) dialog.showModal();
}

for (const button of each("[data-close]")) button.onclick = () => button.closest("dialog").close();

async function openAdd(text = "") {
  if (one("dialog[open]")) return;
  openDialog($("adding"), () => submitAdd());
  const byURL = new Map([...known.values()].map((row) => [row.url, row]));
  await run(() => prepare(text, (url) => byURL.get(url)));
}

// Returns true if lines remain in the field.
async function submitAdd(without) {
  const added = await add(without);
  say(added.length === 1 ? `${added[0].name} was added` : `${added.length} downloads were added`);
  return $("urls").value.trim() !== "";
}

function login(message = "") {
  openDialog($("login"), async () => {
    setSecret($("secret").value.trim());
    await call("GET", "/session");
    $("secret").value = "";
    begin();
  });
  put("login-problem", message);
}
$("login").addEventListener("cancel", (event) => event.preventDefault());

const keys = [
  ["↑ ↓", "Move"], ["Home End", "First, last"], ["Space", "Choose"], ["Enter", "Details"], ["m", "Menu"], ["Esc", "Close"],
  ["a", "Add"], ["p", "Pause"], ["r", "Resume, retry"], ["c", "Cancel"], ["Delete", "Remove"], ["Shift+R", "Retry all failed"],
  ["Alt+↑ ↓", "Earlier, later in the queue"], ["l", "Speed limit"], ["/", "Search"], ["1 – 6", "The views"],
  ["Ctrl+A", "Choose all"], ["?", "Settings and keys"],
];
$("key-list").replaceChildren(...keys.flatMap(([name, text]) => [element("dt", {}, element("kbd", { text: name })), element("dd", { text })]));

const pressed = {
  a: () => openAdd(), p: () => act("pause"), r: () => act("resume"), c: () => act("cancel"), Delete: () => act("remove"),
  R: () => retryAll(), l: () => $("limit").focus(), "/": () => $("search").focus(), "?": () => $("help").showModal(),
  m: () => list.openCurrentMenu(),
  ArrowDown: () => list.step(document.activeElement?.closest("#rows") ? 1 : 0), ArrowUp: () => list.step(-1),
  Home: () => list.go(0), End: () => list.go(list.rows.length - 1),
  PageDown: () => list.step(list.pageSize()), PageUp: () => list.step(-list.pageSize()),
  Enter: () => list.current && open(list.current.id), " ": () => list.current && list.choose(list.current.id),
  Escape: () => (shown != null ? close() : list.chooseAll(false)),
};
Object.keys(groups).forEach((name, index) => { pressed[index + 1] = () => { location.hash = `state=${name}`; }; });

document.addEventListener("keydown", (event) => {
  if (one("dialog[open]")) return;
  const isField = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (isField) {
    if (event.key === "Enter") event.target.blur();
    if (event.key !== "Escape") return;
    // Without this, the browser would empty the search field without an input event.
    event.preventDefault();
    if (event.target === $("search")) { event.target.value = ""; event.target.oninput(); }
    return event.target.blur();
  }
  if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key)) { event.preventDefault(); return step(event.key === "ArrowUp" ? -1 : 1); }
  if ((event.ctrlKey || event.metaKey) && event.key === "a") { event.preventDefault(); return list.chooseAll(true); }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (["Enter", " "].includes(event.key) && event.target.closest("button, a, summary")) return;
  const action = pressed[event.key];
  if (action) { event.preventDefault(); action(); }
});

async function setLimit() {
  const limit = parseRate($("limit").value);
  await call("PATCH", "/session", { rateLimit: limit });
  $("limit").value = rate(limit);
  say(limit ? `The limit is ${rate(limit)}` : "There is no limit");
}

for (const button of each("[data-icon]")) button.prepend(icon(button.dataset.icon));
$("add").onclick = () => openAdd();
$("others").onclick = () => $("adding").submit(() => submitAdd(badLines()));
$("keys").onclick = () => $("help").showModal();
$("retry").onclick = retryAll;
$("clear").onclick = clearFinished;
$("all").onchange = () => list.chooseAll($("all").checked);
$("limit").onchange = () => run(setLimit);
$("order").onchange = () => sortBy($("order").value);
for (const head of each("[data-sort]")) {
  head.firstChild.onclick = () => turnSort(head.dataset.sort);
  $("order").append(element("option", { value: head.dataset.sort, text: head.textContent }));
}
for (const button of each("#tools [data-do]")) {
  // The row keeps the focus, because the button acts on this row.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.onclick = () => act(button.dataset.do);
}
for (const kind of ["focusin", "focusout"]) $("list").addEventListener(kind, () => setTimeout(drawChosen));
$("search").oninput = () => {
  const next = address();
  next.set("state", filter());
  if ($("search").value) next.set("q", $("search").value); else next.delete("q");
  history.replaceState(null, "", `#${next}`);
  list.top();
  refresh();
};
addEventListener("hashchange", () => { takeSecret(); $("search").value = address().get("q") ?? ""; list.top(); list.chosen.clear(); draw(); });

// Addresses and files that are pasted or dropped anywhere open the dialog.
addEventListener("paste", (event) => {
  if (event.target.matches?.("input, textarea")) return;
  const text = event.clipboardData.getData("text");
  if (hasAddress(text)) openAdd(text);
});
addEventListener("dragover", (event) => { if (!event.dataTransfer.types.includes("application/x-dlm")) event.preventDefault(); });
addEventListener("drop", async (event) => {
  if (event.dataTransfer.types.includes("application/x-dlm")) return;
  event.preventDefault();
  const files = [...event.dataTransfer.files];
  const text = event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text");
  if (!$("adding").open && (files.length || hasAddress(text))) await openAdd(hasAddress(text) ? text.trim() : "");
  if (files.length && $("adding").open) await takeFiles(files);
});

// Progress of all downloads.

function drawChart() {
  const most = Math.max(...speeds, 1);
  $("chart").firstChild.setAttribute("points", speeds.map((speed, index) => `${120 - speeds.length + index},${31 - (speed / most) * 30}`).join(" "));
  $("chart").setAttribute("aria-label", `Speed of the last two minutes; at most ${rate(most) || "nothing"}`);
}

// The downloads under way, and those that ended meanwhile. Without the latter, the total progress would fall at each end.
const batch = new Set();

function totals() {
  const active = [...known.values()].filter(isActive);
  if (!active.length) batch.clear();
  for (const { id } of active) batch.add(id);
  const counted = [...batch].map((id) => known.get(id)).filter((row) => row?.total && (isActive(row) || isDone(row)));
  const sum = (value) => counted.reduce((all, row) => all + value(row), 0);
  return {
    running: rowsIn("running").length, total: sum((row) => row.total), received: sum((row) => (isDone(row) ? row.total : row.received)),
  };
}

let iconPercent = null;
function drawIcon(percent) {
  if (percent === iconPercent) return;
  iconPercent = percent;
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#fff" stroke-width="3"><rect width="32" height="32" rx="7"
    fill="#1d5fd1" stroke="none"/><path d="M16 4v11M10 9l6 6 6-6"/><path d="M4 24h24" stroke="#0b2a63" stroke-width="7"/><path d="M4 24h${percent * 0.24}" stroke-width="7"/></svg>`;
  $("icon").href = percent == null ? "icon.svg" : `data:image/svg+xml,${encodeURIComponent(picture)}`;
}

function drawTotals(speed) {
  const { running, received, total } = totals();
  const percent = running && total ? Math.floor((received / total) * 100) : null;
  const left = speed > 0 && total ? span((total - received) / speed) : "";
  speeds = [...speeds, speed].slice(-120);
  put("speed", rate(speed) || "idle");
  put("progress", percent == null ? "" : `${percent} %${left ? ` · ${left} left` : ""}`);
  document.title = running ? `${percent == null ? "" : `${percent} % · `}${running} – dlm` : "dlm";
  drawIcon(percent);
  drawChart();
}

// A page in the background fetches the progress every five seconds, for its title and icon, and only while a download runs.
async function tick() {
  const isWanted = !document.hidden || rowsIn("running").length > 0;
  if (isWanted && isFollowing && !$("login").open && !isOffline && downloads.mayAsk) {
    try {
      drawTotals(await downloads.progress());
      if (shown != null && !document.hidden && isActive(known.get(shown) ?? {})) await refreshDetails();
    } catch (error) {
      // The stream of events reports the problem, but it may notice a dead connection later.
      if (!error.status && !(error instanceof Busy)) downloads.reconnect();
    }
  }
  setTimeout(tick, document.hidden ? 5000 : 1000);
}

// Problems. The list is marked as old until the server answers again.

let isOffline = false;

const textOf = (error) => (error instanceof Busy ? busyText(error) : error.message);
const busyText = ({ message, after }) => `The server is busy (${message}). The page tries again at ${clockTime(new Date(Date.now() + after * 1000))}.`;

function showProblem(text) {
  document.body.classList.add("stale");
  put("offline", text + (downloads.news ? ` The list is from ${clockTime(downloads.news)}.` : ""));
  $("offline").hidden = false;
  put("speed", "–");
  put("progress", "");
  document.title = "dlm";
}

function endProblem() {
  isOffline = false;
  if ($("offline").hidden) return;
  $("offline").hidden = true;
  document.body.classList.remove("stale");
  refreshDetails();
}

const on = (kind, body) => downloads.addEventListener(kind, ({ detail }) => body(detail));
on("change", refresh);
on("online", endProblem);
on("busy", (error) => showProblem(busyText(error)));
on("refused", (message) => { isFollowing = false; login(message); });
on("offline", () => {
  isOffline = true;
  showProblem("The background session of dlm does not answer. If it has ended, run “dlm daemon start --rpc”.");
  // The last measured speeds are out of date.
  for (const row of known.values()) Object.assign(row, { speed: 0, at: undefined });
  refresh();
});

// Notices. Downloads that end within two seconds share one notice.

let ended = [];
const canNotify = () => window.Notification?.permission === "granted" && recall("dlm-notify") === true;

function notify() {
  const failed = ended.filter((event) => event.event === "failed").length;
  const title = ended.length > 1 ? `${ended.length} downloads have ended` : failed ? "Download failed" : "Download finished";
  const body = ended.length > 1 ? `${failed} failed` : ended[0].name;
  ended = [];
  try { new Notification(title, { body, icon: "icon.svg", tag: "dlm" }); } catch { /* Chrome on Android permits notices only in service workers. */ }
}

on("ended", (event) => {
  say(event.event === "completed" ? `${event.name} is finished` : `${event.name} has failed: ${event.error?.message ?? ""}`);
  if (event.id === shown) refreshDetails();
  if (canNotify() && ended.push(event) === 1) setTimeout(notify, 2000);
});

$("notify").checked = canNotify();
$("notify").onchange = async () => {
  const isWanted = $("notify").checked;
  remember("dlm-notify", isWanted && await window.Notification?.requestPermission() === "granted");
  $("notify").checked = canNotify();
  put("notify-problem", isWanted && !canNotify() ? "The browser permits no notices here. It may need https." : "");
};

async function begin() {
  if (isFollowing) return;
  isFollowing = true;
  run(async () => { $("limit").value = rate((await call("GET", "/session")).rateLimit); });
  downloads.follow();
}

$("search").value = address().get("q") ?? "";
drawSort();
if (takeSecret()) begin(); else login();
draw();
tick();
