// The details of one download: actions, numbers, speed, parts, addresses and attempts.

import { call } from "./api.js";
import { bytes, count, element, percent, rate, recordTime, shape, span, stateText, time, timeLeft } from "./format.js";

let parts = [];

const section = (title, ...children) => element("div", {}, element("h3", { text: title }), ...children);
const spans = (...texts) => texts.map((text) => element("span", { text }));

function facts(pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) if (value) list.append(element("dt", { text: name }), element("dd", { text: value }));
  return list;
}

function map(ranges, total) {
  return shape("svg", { class: "pieces", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img", "aria-label": `${count(ranges.length, "part")} of the file received` },
    ...ranges.map(([start, end]) => shape("rect", { x: (start / total) * 1000, width: Math.max(1, ((end - start) / total) * 1000), height: 10 })));
}

// The record has no times of the parts. So the page notes when it saw the end of a part move.
function partList(ranges) {
  const known = new Map(parts.map((part) => [part.start, part]));
  parts = ranges.map(([start, end]) => (known.get(start)?.end === end ? known.get(start) : { start, end, moved: Date.now() }));
  const list = element("ol", { class: "parts" }, ...parts.slice(0, 24).map(({ start, end, moved }) => {
    const age = Math.round((Date.now() - moved) / 1000);
    return element("li", {}, ...spans(`from ${bytes(start)}`, bytes(end - start), age < 2 ? "now" : `${span(age)} ago`));
  }));
  return element("div", {}, element("p", { class: "quiet", text: `${count(parts.length, "part")}: start, received, last change` }), list);
}

function chart(points = []) {
  const most = Math.max(...points.map(([, speed]) => speed), 1);
  const now = points.at(-1)?.[0] ?? 0;
  const seconds = Math.max(30, Math.ceil((now - (points[0]?.[0] ?? now)) / 30_000) * 30);
  const place = ([at, speed]) => `${300 - ((now - at) / 1000 / seconds) * 300},${60 - (speed / most) * 59}`;
  return element("figure", { class: "chart" }, element("p", {}, ...spans(rate(most), points.length ? `now ${rate(points.at(-1)[1]) || "0 B/s"}` : "")),
    shape("svg", { viewBox: "0 0 300 60", preserveAspectRatio: "none", role: "img", "aria-label": `Speed of the last ${span(seconds)}: at most ${rate(most)}` },
      shape("path", { d: "M0 1H300M0 30H300M0 60H300" }), shape("polyline", { points: points.map(place).join(" ") })),
    element("p", {}, ...spans(`${span(seconds)} ago`, "now")));
}

function attemptList(record) {
  const items = (record.attempts ?? []).map((attempt) => {
    const [begun, ended] = [recordTime(attempt.started), recordTime(attempt.ended)];
    const texts = [
      time(begun), ended ? span((ended - begun) / 1000) : "running", attempt.received && bytes(attempt.received),
      attempt.connections > 1 && `${attempt.connections} connections`, attempt.redirects && `${attempt.redirects} redirects`,
      attempt.metrics?.remoteAddress && `from ${[attempt.metrics.remoteAddress, ...attempt.otherAddresses ?? []].join(" and ")}`,
    ];
    return element("li", {}, texts.filter(Boolean).join(", "), attempt.outcome ? element("div", { text: attempt.outcome }) : null);
  });
  return items.length ? element("ol", {}, ...items) : element("p", { class: "quiet", text: "None yet." });
}

function versionFacts(record) {
  const validators = record.resume?.validators ?? record.completed?.validators ?? {};
  const sum = record.request?.checksum ?? record.completed?.checksum ?? record.resume?.digest;
  return facts([
    ["ETag", validators.etag && `${validators.etag.isWeak ? "W/" : ""}"${validators.etag.opaque}"`],
    ["Last modified", validators.lastModified], ["Type", record.resume?.contentType],
    ["Checksum", sum && `${sum.algorithm}:${sum.digest}`],
  ]);
}

function connections({ record }) {
  const attempt = record.attempts?.at(-1);
  if (!attempt) return "";
  const { connections: used, connectionReason: reason, received } = attempt;
  if (reason) return `${used}, because ${reason}`;
  if (received > 0 && used === 1 && record.resume?.acceptsRanges === false) return "1, because the server does not send parts of files";
  return used + (used === record.request?.connections ? ", as asked for" : "");
}

// Returns why a queued download does not run yet.
function queueReason(download, session) {
  const origin = URL.canParse(download.url) && new URL(download.url).origin;
  const pause = session.hostPauses?.find((one) => one.origin === origin && new Date(one.until) > new Date());
  if (pause) return `The server asked to wait (${pause.status}), in ${span((new Date(pause.until) - Date.now()) / 1000)}`;
  if (download.attended === false) return "Its session is not running";
  return session.running >= session.maxConcurrent ? `${session.running} downloads are running, and no more may run at once` : "";
}

function general(download, row, reason) {
  const { record, received, total } = download;
  return facts([
    ["State", stateText({ ...row, ...download, error: download.error?.message })], ["Waits", reason],
    ["Received", total ? `${bytes(received)} of ${bytes(total)} (${percent(download)} %)` : bytes(received)],
    ["Time left", span(timeLeft(row ?? {}))], ["Connections", connections(download)],
    ["Limit", rate(download.rateLimit)], ["Priority", download.priority ? String(download.priority) : ""],
    ["File", download.path ?? download.folder], ["From", download.url],
    ["Redirected to", download.effectiveURL !== download.url && download.effectiveURL],
    ["Added", time(new Date(download.created))], ["Session", download.session && download.session + (download.attended ? "" : " (not running)")],
    ["Certificates", record.request?.trust === "insecure" && "not verified"],
  ]);
}

// The buttons stay the same elements as long as the panel shows the same download, so that no click is lost.
function build(box, id, actions) {
  const verbs = { pause: "Pause", resume: "Resume", limit: "Limit…", url: "New URL…", repair: "Repair", cancel: "Cancel", remove: "Remove…" };
  parts = [];
  box.dataset.id = id;
  box.replaceChildren(
    element("button", { class: "close", "aria-label": "Close details", text: "✕", on: { click: actions.close } }), element("h2"),
    element("div", { class: "actions" }, ...Object.entries(verbs).map(([verb, text]) =>
      element("button", { type: "button", text, "data-verb": verb, on: { click: () => actions.act(verb, id) } }))),
    element("div"),
  );
}

function updateButtons(box, { state, record }) {
  const isActive = ["running", "queued", "waiting"].includes(state);
  const isDone = state === "completed";
  const hidden = {
    pause: !isActive, resume: isActive || isDone, limit: isDone, url: isDone, repair: !record.request?.pieces, cancel: isDone || state === "cancelled",
  };
  for (const button of box.querySelectorAll("[data-verb]")) button.hidden = !!hidden[button.dataset.verb];
  box.querySelector("[data-verb=resume]").textContent = state === "paused" ? "Resume" : "Retry";
}

// `row` is the row of the list, with the measured speed.
export async function show(box, id, row, actions) {
  const download = await call("GET", `/downloads/${id}`);
  const reason = download.state === "queued" ? queueReason(download, await call("GET", "/session")) : "";
  if (!actions.isShown(id)) return;
  if (box.dataset.id !== String(id)) build(box, id, actions);
  const { record, state, total } = download;
  const version = versionFacts(record);
  const mirrors = record.request?.mirrors ?? [];
  const ranges = state === "completed" ? [[0, total]] : record.resume?.written ?? [];
  box.querySelector("h2").textContent = download.name;
  updateButtons(box, download);
  box.lastChild.replaceChildren(
    general(download, row, reason),
    ...(row?.history ? [section("Speed", chart(row.history))] : []),
    ...(total ? [section("Parts", map(ranges, total), state === "running" ? partList(ranges) : "")] : []),
    ...(mirrors.length ? [section("Mirrors", element("ol", {}, ...mirrors.map((url) => element("li", { text: url }))))] : []),
    ...(version.childElementCount ? [section("Version", version)] : []),
    section("Attempts", attemptList(record)),
  );
}
