// Numbers and times as text for users, and the elements of the page.

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

export const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

export function bytes(count) {
  if (count == null) return "";
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit++; }
  return `${unit && count < 100 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

export const rate = (speed) => (speed > 0 ? `${bytes(speed)}/s` : "");

// Reads a speed such as 300K, 1.5 MiB/s or none. Returns bytes per second, and 0 for no limit. K, M and G are powers of 1024, as in
// `dlm limit`.
export function parseRate(text) {
  if (/^\s*(none|0?)\s*$/i.test(text)) return 0;
  const [, number, unit] = /^\s*(\d+(?:[.,]\d+)?)\s*([kmg]?)(?:i?b)?(?:\/s)?\s*$/i.exec(text) ?? [];
  if (!number) throw new Error("Give a speed such as 300K or 2M, or none");
  return Math.round(Number(number.replace(",", ".")) * 1024 ** ["", "k", "m", "g"].indexOf(unit.toLowerCase()));
}

export function span(seconds) {
  if (!isFinite(seconds) || seconds < 0) return "";
  seconds = Math.ceil(seconds);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.round(seconds / 86400)} d`;
}

const formatter = (options) => {
  const format = new Intl.DateTimeFormat(undefined, options);
  return (date) => (date ? format.format(date) : "");
};
export const time = formatter({ dateStyle: "medium", timeStyle: "medium" });
export const clockTime = formatter({ timeStyle: "medium" });
const day = formatter({ day: "numeric", month: "short", year: "2-digit" });

// Returns the time of a date of today, and the day of another date.
export const dayTime = (date) => (date?.toDateString() === new Date().toDateString() ? clockTime(date) : day(date));

// Converts a time of a record, which is in seconds since 2001-01-01 UTC.
export const recordTime = (seconds) => (seconds == null ? null : new Date((seconds + 978307200) * 1000));

export function percent(row) {
  if (row.state === "completed") return 100;
  return row.total ? Math.min(100, Math.floor((row.received / row.total) * 100)) : null;
}

export const timeLeft = (row) => (row.speed > 0 && row.total ? (row.total - row.received) / row.speed : Infinity);

const words = { queued: "waiting", completed: "finished" };

// Returns what a waiting download waits for: { kind, status, until }. `state` is the state with its data.
export function waitReason(state) {
  if (!state?.waiting) return null;
  const [[kind, data]] = Object.entries(state.waiting._0 ?? { retry: null });
  return { kind, status: data?.status ?? data?._0?.serverRefused?.status, until: recordTime(state.waiting.until) };
}

// Returns a text such as `503, again in 9 min`.
function waitText({ kind, status, until }) {
  const left = (until - Date.now()) / 1000;
  const when = left > 0 ? ` in ${span(left)}` : "";
  const texts = { network: "waiting for the network", schedule: `will start${when || " at its time"}`, server: `${status}, the server asked to wait${when}` };
  return texts[kind] ?? `${status ? `${status}, ` : ""}${when ? "again" : "will try again"}${when}`;
}

export function stateText(row) {
  if (row.state === "failed" && row.error) return `failed: ${row.error}`;
  if (row.state === "waiting") return waitText(row.wait ?? {});
  if (row.state === "running" && row.phase) return row.phase === "verifying" ? "checking" : "finishing";
  return words[row.state] ?? row.state;
}

const namespace = "http://www.w3.org/2000/svg";

export function shape(name, fields = {}, ...children) {
  const node = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(fields)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// The pictures of states and buttons, 16 units wide and high.
const circle = "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z";
const pictures = {
  pause: "M5 3v10M11 3v10", resume: "M5 3l8 5-8 5z", cancel: "M4 4l8 8M12 4l-8 8", remove: "M3 4h10M6 4V2h4v2M4.5 4l.6 10h5.8l.6-10",
  retry: "M13 8.5A5 5 0 1 1 11.6 5M13 2v4H9", clear: "M2 4h8M2 8h5M2 12h4M8 11l2.5 2.5 4-5.5",
  running: "M8 2v8M4.5 7L8 10.5 11.5 7M3 14h10", queued: `M8 4.5V8l2.5 1.5${circle}`, completed: "M3 8.5L6.5 12 13 4.5",
  failed: `M8 4.5V9M8 11.5h.01${circle}`, cancelled: `M4 12l8-8${circle}`,
};
Object.assign(pictures, { waiting: pictures.retry, paused: pictures.pause });

export const icon = (name) => shape("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, shape("path", { d: pictures[name] }));
export const changeIcon = (node, name) => setField(node.firstChild, "d", pictures[name]);

// Sets an attribute only if it changes, because even an equal value costs the browser time.
export function setField(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// Creates an element with text and children. Text never becomes markup, because file names come from servers.
export function element(name, fields = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(fields)) {
    if (key === "text") node.textContent = value;
    else if (key === "on") for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

// Settings that the browser remembers, unless its user forbids that.
export function remember(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* forbidden */ }
}

export function recall(key) {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}
