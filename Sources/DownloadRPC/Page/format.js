// Numbers and times as text for users.

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(count) {
  if (count == null) return "";
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit++; }
  return `${unit && count < 100 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

export const rate = (speed) => (speed > 0 ? `${bytes(speed)}/s` : "");

export function span(seconds) {
  if (!isFinite(seconds) || seconds < 0) return "";
  seconds = Math.ceil(seconds);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.round(seconds / 86400)} d`;
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
export const time = (date) => (date ? clock.format(date) : "");

// Converts a time of a record, which is in seconds since 2001-01-01 UTC.
export const recordTime = (seconds) => (seconds == null ? null : new Date((seconds + 978307200) * 1000));

export function percent(row) {
  if (row.state === "completed") return 100;
  return row.total ? Math.min(100, Math.floor((row.received / row.total) * 100)) : null;
}

export const words = {
  queued: "waiting", running: "running", waiting: "will try again", paused: "paused", completed: "finished",
  failed: "failed", cancelled: "cancelled",
};

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
