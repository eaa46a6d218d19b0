import { call, Downloads, forgetSecret, Refused, setSecret, takeSecret } from "./api.js";
import { show as showDetails } from "./details.js";
import { bytes, element, rate } from "./format.js";
import { List } from "./list.js";

const $ = (id) => document.getElementById(id);
const downloads = new Downloads();
let shown = null;
let speeds = [];
let isFollowing = false;

const groups = {
  all: null, running: ["running"], waiting: ["queued", "waiting", "paused"], finished: ["completed", "cancelled"], failed: ["failed"],
};
const order = { running: 0, waiting: 1, queued: 2, paused: 3, failed: 4, cancelled: 5, completed: 6 };

// MARK: The list. The filter is part of the page's address, so that users can save and share it.

const address = () => new URLSearchParams(location.hash.slice(1));
const filter = () => (address().get("state") in groups ? address().get("state") : "all");
const search = () => (address().get("q") ?? "").toLowerCase();

function before(one, other) {
  const step = order[one.state] - order[other.state];
  if (step) return step;
  if (["queued", "paused", "waiting"].includes(one.state)) return other.priority - one.priority || one.id - other.id;
  return other.id - one.id;
}

let pending = null;
function refresh() { pending ??= setTimeout(() => { pending = null; draw(); }, 60); }

function draw() {
  const counts = { all: 0, running: 0, waiting: 0, finished: 0, failed: 0 };
  const [states, text, rows] = [groups[filter()], search(), []];
  for (const row of downloads.rows.values()) {
    counts.all++;
    for (const name in groups) if (groups[name]?.includes(row.state)) counts[name]++;
    if (states && !states.includes(row.state)) continue;
    if (text && !row.name.toLowerCase().includes(text) && !row.url.toLowerCase().includes(text)) continue;
    rows.push(row);
  }
  rows.sort(before);
  for (const name in counts) document.querySelector(`[data-count=${name}]`).textContent = counts[name];
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#state=${filter()}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  for (const id of list.chosen) if (!downloads.rows.has(id)) list.chosen.delete(id);
  list.show(rows);
  $("empty").hidden = rows.length > 0;
  $("empty").textContent = text ? `Nothing matches “${address().get("q")}”.` : counts.all ? "No downloads in this view." : "No downloads yet. Paste addresses here, drop a list, or press Add.";
  $("retry").hidden = !counts.failed;
  $("retry").textContent = `Retry all failed (${counts.failed})`;
  drawChosen();
}

function targets() {
  if (list.chosen.size) return [...list.chosen];
  return list.current && document.activeElement?.closest("#rows") ? [list.current.id] : shown != null ? [shown] : [];
}

function drawChosen() {
  const count = list.chosen.size;
  $("chosen").textContent = note || (count ? `${count} chosen` : "");
  for (const button of document.querySelectorAll("#tools [data-do]")) button.disabled = !count && shown == null && !list.rows.length;
  $("all").checked = count > 0 && count === list.rows.length;
  $("all").indeterminate = count > 0 && count < list.rows.length;
}

// MARK: Actions.

const list = new List($("list"), $("rows"), {
  open: (id) => open(id),
  chosen: drawChosen,
  move: (id, target) => run(() => moveBefore(id, target)),
});

function say(text) { $("live").textContent = text; }

// Shows a message for some seconds, and announces it to screen readers.
let note = "";
function tell(text) {
  note = text;
  say(text);
  drawChosen();
  setTimeout(() => { if (note === text) { note = ""; drawChosen(); } }, 8000);
}

async function run(body) {
  try { return await body(); } catch (error) {
    if (error instanceof Refused) return login(error.message);
    tell(error.message);
  }
}

async function perform(verb, ids, body = {}) {
  for (let at = 0; at < ids.length; at += 1000) await call("POST", `/downloads/${verb}`, { ids: ids.slice(at, at + 1000), ...body });
}

function act(verb) {
  const ids = targets().filter((id) => downloads.rows.has(id));
  if (!ids.length) return tell("Choose a download first");
  const known = ids.map((id) => downloads.rows.get(id));
  if (verb === "remove") return askToRemove(known);
  const fitting = known.filter((row) =>
    verb === "resume" ? !["running", "queued", "completed"].includes(row.state)
    : verb === "pause" ? ["running", "queued", "waiting"].includes(row.state) : !["completed", "cancelled"].includes(row.state));
  if (fitting.length) run(() => perform(verb, fitting.map((row) => row.id)));
}

function askToRemove(rows) {
  const dialog = $("removing");
  const files = rows.filter((row) => row.state === "completed");
  $("doomed").replaceChildren(...rows.slice(0, 20).map((row) => element("li", { text: row.name })), ...(rows.length > 20 ? [element("li", { text: `and ${rows.length - 20} more` })] : []));
  $("with-file").checked = false;
  $("with-file").parentElement.hidden = !files.length;
  $("with-file-text").textContent = files.length === 1 ? `Also delete the file ${files[0].path ?? files[0].name}` : `Also delete the ${files.length} finished files`;
  openDialog(dialog, async () => {
    const deleted = $("with-file").checked ? files.map((row) => row.id) : [];
    if (deleted.length) await perform("remove", deleted, { deleteFile: true });
    const rest = rows.map((row) => row.id).filter((id) => !deleted.includes(id));
    if (rest.length) await perform("remove", rest);
  });
}

// Moves a download to the place before another in the queue. The places result from the priorities. If possible, only
// the priority of the moved download is changed.
async function moveBefore(id, target) {
  const queue = [...downloads.rows.values()].filter((row) => ["queued", "paused", "waiting"].includes(row.state))
    .sort((one, other) => other.priority - one.priority || one.id - other.id);
  const moved = downloads.rows.get(id);
  const rest = queue.filter((row) => row.id !== id);
  const at = rest.findIndex((row) => row.id === target);
  if (!moved || at < 0 || !queue.includes(moved)) return tell("Only waiting downloads have a place in the queue");
  const places = rest.map(({ id, priority }) => ({ id, priority }));
  places.splice(at, 0, { id, priority: moved.priority });
  const precedes = (one, other) => one.priority > other.priority || (one.priority === other.priority && one.id < other.id);
  const fits = (priority) => (!at || precedes(places[at - 1], { id, priority })) && precedes({ id, priority }, places[at + 1]);
  const single = [moved.priority, rest[at].priority, rest[at].priority + 1].find(fits);
  const changes = single == null ? [] : single === moved.priority ? [] : [{ id, priority: single }];
  for (let place = places.length - 2; single == null && place >= 0; place--) {
    const [one, next] = [places[place], places[place + 1]];
    if (precedes(one, next)) continue;
    one.priority = next.priority + (one.id < next.id ? 0 : 1);
    changes.push(one);
  }
  for (const change of changes) await call("PATCH", `/downloads/${change.id}`, { priority: change.priority });
}

function step(by) {
  const row = list.current;
  const index = list.rows.indexOf(row);
  const other = list.rows[by < 0 ? index - 1 : index + 2];
  if (!row) return;
  if (other) return run(() => moveBefore(row.id, other.id));
  const last = list.rows.at(-1);
  if (by > 0 && last !== row) run(() => call("PATCH", `/downloads/${row.id}`, { priority: last.priority - 1 }));
}

// MARK: Details.

function open(id) {
  shown = id;
  $("details").hidden = false;
  refreshDetails();
  drawChosen();
}

function close() {
  shown = null;
  $("details").hidden = true;
  $("details").replaceChildren();
  list.step(0);
}

async function refreshDetails() {
  if (shown == null) return;
  await run(() => showDetails($("details"), shown, {
    close,
    replace: (id, url) => call("PATCH", `/downloads/${id}`, { url }).then(() => perform("resume", [id])),
    repair: (download) => call("POST", "/downloads", {
      urls: [download.url], folder: download.folder, file: download.name, repair: true, ifExists: "overwrite", pieces: download.record.request.pieces,
    }),
  }));
}

// MARK: Dialogs.

function openDialog(dialog, submit) {
  const problem = dialog.querySelector(".problem");
  problem.textContent = "";
  const form = dialog.querySelector("form");
  form.onsubmit = async (event) => {
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try { await submit(); dialog.close(); } catch (error) { problem.textContent = error.message; }
    for (const button of buttons) button.disabled = false;
  };
  if (!dialog.open) dialog.showModal();
}

for (const button of document.querySelectorAll("[data-close]")) button.onclick = () => button.closest("dialog").close();

async function openAdd(text = "") {
  if ($("adding").open) return;
  openDialog($("adding"), add);
  if (text) $("urls").value = text;
  $("urls").focus();
  await run(async () => {
    const { folders } = await call("GET", "/folders");
    $("folder").replaceChildren(...folders.map((folder) => element("option", { value: folder.path, text: folder.path, "data-free": String(folder.free ?? "") })));
    tellRoom();
  });
}

function tellRoom() {
  const free = $("folder").selectedOptions[0]?.dataset.free;
  $("room").textContent = free ? `${bytes(Number(free))} free` : "The folder will be created when it is needed.";
}

async function add() {
  const urls = $("urls").value.split(/\s*\n\s*/).map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  if (!urls.length) throw new Error("Give at least one address");
  const below = $("below").value.trim().replace(/^\/+|\/+$/g, "");
  const document = { urls, folder: $("folder").value + (below ? `/${below}` : ""), ifExists: $("exists").value };
  const value = (id) => $(id).value.trim();
  if (value("name")) {
    if (urls.length > 1) throw new Error("A name can be given only for a single address");
    document.file = value("name");
  }
  if (value("checksum")) document.checksum = value("checksum");
  if (value("connections")) document.connections = Number(value("connections"));
  if (value("rate")) document.rateLimit = Number(value("rate")) * 1024;
  if (Number(value("priority"))) document.priority = Number(value("priority"));
  if (value("user")) Object.assign(document, { user: value("user"), password: $("password").value });
  if (value("referer")) document.options = { http: { referer: value("referer") } };
  const headers = value("headers").split("\n").filter((line) => line.trim());
  if (headers.length) document.headers = headers.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  if ($("paused").checked) document.paused = true;
  const { downloads: added } = await call("POST", "/downloads", document);
  say(added.length === 1 ? `${added[0].name} was added` : `${added.length} downloads were added`);
  for (const id of ["urls", "name", "checksum", "headers", "password"]) $(id).value = "";
}

function login(message = "") {
  openDialog($("login"), async () => {
    setSecret($("secret").value.trim());
    try { await call("GET", "/session"); } catch (error) { forgetSecret(); throw error; }
    $("secret").value = "";
    begin();
  });
  $("login-problem").textContent = message.includes("bearer") ? "" : message;
}
$("login").addEventListener("cancel", (event) => event.preventDefault());

// MARK: Keys.

const keys = [
  ["↑ ↓", "Move"], ["Home End", "First, last"], ["Space", "Choose"], ["Enter", "Details"], ["Esc", "Close"],
  ["a", "Add"], ["p", "Pause"], ["r", "Resume, retry"], ["c", "Cancel"], ["Delete", "Remove"], ["Shift+R", "Retry all failed"],
  ["Alt+↑ ↓", "Earlier, later in the queue"], ["l", "Speed limit"], ["/", "Search"], ["1 – 5", "All, running, waiting, finished, failed"],
  ["Ctrl+A", "Choose all"], ["?", "These keys"],
];
$("key-list").replaceChildren(...keys.flatMap(([name, text]) => [element("dt", {}, element("kbd", { text: name })), element("dd", { text })]));

const pressed = {
  a: () => openAdd(), p: () => act("pause"), r: () => act("resume"), c: () => act("cancel"), Delete: () => act("remove"),
  R: () => retryAll(), l: () => $("limit").focus(), "/": () => $("search").focus(), "?": () => $("help").showModal(),
  ArrowDown: () => list.step(document.activeElement?.closest("#rows") ? 1 : 0), ArrowUp: () => list.step(-1),
  Home: () => list.go(0), End: () => list.go(list.rows.length - 1),
  PageDown: () => list.step(list.pageSize()), PageUp: () => list.step(-list.pageSize()),
  Enter: () => list.current && open(list.current.id), " ": () => list.current && list.choose(list.current.id),
  Escape: () => (shown != null ? close() : list.chooseAll(false)),
};
Object.keys(groups).forEach((name, index) => { pressed[index + 1] = () => { location.hash = `state=${name}`; }; });

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  const isField = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (isField) {
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

// MARK: The rest of the page.

function retryAll() {
  const ids = [...downloads.rows.values()].filter((row) => row.state === "failed").map((row) => row.id);
  if (ids.length) run(() => perform("resume", ids));
}

$("add").onclick = () => openAdd();
$("keys").onclick = () => $("help").showModal();
$("retry").onclick = retryAll;
$("all").onchange = () => list.chooseAll($("all").checked);
$("folder").onchange = tellRoom;
$("limit").onchange = () => run(() => call("PATCH", "/session", { rateLimit: Number($("limit").value) }));
for (const button of document.querySelectorAll("#tools [data-do]")) {
  // The row keeps the focus, because the button acts on this row.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.onclick = () => act(button.dataset.do);
}
$("search").oninput = () => {
  const next = address();
  next.set("state", filter());
  if ($("search").value) next.set("q", $("search").value); else next.delete("q");
  history.replaceState(null, "", `#${next}`);
  refresh();
};
addEventListener("hashchange", () => { takeSecret(); $("search").value = address().get("q") ?? ""; $("list").scrollTop = 0; list.chosen.clear(); draw(); });

// Addresses that are pasted or dropped anywhere on the page open the dialog for adding downloads.
const hasAddress = (text) => /^\s*(https?|ftps?|sftp):\/\//m.test(text);
addEventListener("paste", (event) => {
  if (event.target.matches?.("input, textarea")) return;
  const text = event.clipboardData.getData("text");
  if (hasAddress(text)) openAdd(text);
});
addEventListener("dragover", (event) => { if (!event.dataTransfer.types.includes("application/x-dlm")) event.preventDefault(); });
addEventListener("drop", async (event) => {
  if (event.dataTransfer.types.includes("application/x-dlm")) return;
  event.preventDefault();
  const files = await Promise.all([...event.dataTransfer.files].slice(0, 10).filter((file) => file.size < 2 ** 20).map((file) => file.text()));
  const text = [event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text"), ...files].join("\n");
  if (hasAddress(text)) openAdd(text.trim());
});

function drawChart() {
  const canvas = $("chart");
  const pen = canvas.getContext("2d");
  const most = Math.max(...speeds, 1);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.beginPath();
  [...Array(120 - speeds.length).fill(0), ...speeds].forEach((speed, index) => pen.lineTo(index * 2, canvas.height - 2 - (speed / most) * (canvas.height - 6)));
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  pen.lineWidth = 2;
  pen.stroke();
  canvas.setAttribute("aria-label", `Speed of the last two minutes; at most ${rate(most) || "nothing"}`);
}

// Fetches the progress once a second while the page is visible. A page in the background sends no requests.
async function tick() {
  if (!document.hidden && !$("login").open && $("offline").hidden) {
    try {
      const total = await downloads.progress();
      speeds = [...speeds, total].slice(-120);
      $("speed").textContent = rate(total) || "idle";
      document.title = total > 0 ? `${rate(total)} – dlm` : "dlm";
      drawChart();
      if (shown != null && downloads.rows.get(shown)?.state === "running") await refreshDetails();
    } catch { /* the stream of events reports the problem */ }
  }
  setTimeout(tick, 1000);
}

downloads.addEventListener("change", refresh);
downloads.addEventListener("refused", (event) => { isFollowing = false; login(event.detail); });
downloads.addEventListener("online", () => { $("offline").hidden = true; });
downloads.addEventListener("offline", (event) => {
  $("offline").hidden = false;
  $("offline").textContent = `The background session of dlm does not answer. Trying again every ${event.detail} s; run “dlm daemon start --rpc” if it has ended.`;
  $("speed").textContent = "–";
  // The last measured speeds are out of date.
  for (const row of downloads.rows.values()) Object.assign(row, { speed: 0, at: undefined });
  refresh();
});
downloads.addEventListener("ended", ({ detail }) => {
  say(detail.event === "completed" ? `${detail.name} is finished` : `${detail.name} has failed: ${detail.error?.message ?? ""}`);
  if (detail.id === shown) refreshDetails();
});

async function begin() {
  if (isFollowing) return;
  isFollowing = true;
  run(async () => {
    const { rateLimit } = await call("GET", "/session");
    const limit = String(rateLimit ?? 0);
    if (![...$("limit").options].some((option) => option.value === limit)) $("limit").append(element("option", { value: limit, text: `${bytes(rateLimit)}/s` }));
    $("limit").value = limit;
  });
  downloads.follow();
}

$("search").value = address().get("q") ?? "";
if (takeSecret()) begin(); else login();
draw();
tick();
