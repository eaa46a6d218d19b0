// The details of one download: its addresses, its fetched parts, and its attempts.

import { call } from "./api.js";
import { bytes, element, recordTime, span, time, words } from "./format.js";

const svg = "http://www.w3.org/2000/svg";

function pieces(record, total) {
  const picture = document.createElementNS(svg, "svg");
  picture.setAttribute("class", "pieces");
  picture.setAttribute("viewBox", "0 0 1000 10");
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  const ranges = record.state?.completed ? [[0, total]] : record.resume?.written ?? [];
  picture.setAttribute("aria-label", `${ranges.length} ${ranges.length === 1 ? "part" : "parts"} of the file received`);
  for (const [start, end] of ranges) {
    const part = document.createElementNS(svg, "rect");
    part.setAttribute("x", (start / total) * 1000);
    part.setAttribute("width", Math.max(1, ((end - start) / total) * 1000));
    part.setAttribute("height", 10);
    picture.append(part);
  }
  return picture;
}

function facts(pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) if (value) list.append(element("dt", { text: name }), element("dd", { text: value }));
  return list;
}

function attempts(record) {
  const list = element("ol");
  for (const attempt of record.attempts ?? []) {
    const [begun, ended] = [recordTime(attempt.started), recordTime(attempt.ended)];
    const parts = [time(begun), ended ? span((ended - begun) / 1000) : "running"];
    if (attempt.received) parts.push(bytes(attempt.received));
    if (attempt.connections > 1) parts.push(`${attempt.connections} connections`);
    if (attempt.redirects) parts.push(`${attempt.redirects} redirects`);
    if (attempt.metrics?.remoteAddress) parts.push(`from ${attempt.metrics.remoteAddress}`);
    list.append(element("li", {}, parts.join(", "), attempt.outcome ? element("div", { text: attempt.outcome }) : null));
  }
  return list.childElementCount ? list : element("p", { class: "quiet", text: "None yet." });
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

export async function show(box, id, actions) {
  const download = await call("GET", `/downloads/${id}`);
  const { record } = download;
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset?.part : null;
  const part = (node, name) => { node.dataset.part = name; return node; };
  const button = (text, name, run) => part(element("button", { type: "button", text, on: { click: run } }), name);
  const address = part(element("input", { type: "url", "aria-label": "New address", placeholder: "https://…", required: true }), "url");
  const old = box.querySelector("[data-part=url]");
  if (old && box.dataset.id === String(id)) address.value = old.value;
  const problem = element("p", { class: "problem", role: "alert" });
  const attempt = (run) => async (event) => {
    event?.preventDefault();
    try { await run(); problem.textContent = ""; } catch (error) { problem.textContent = error.message; }
  };
  const version = versionFacts(record);
  box.dataset.id = id;
  box.replaceChildren(
    part(element("button", { class: "close", "aria-label": "Close details", text: "✕", on: { click: actions.close } }), "close"),
    element("h2", { text: download.name }),
    facts([
      ["State", words[download.state] + (download.error ? `: ${download.error.message}` : "")],
      ["Received", download.total ? `${bytes(download.received)} of ${bytes(download.total)}` : bytes(download.received)],
      ["File", download.path ?? download.folder], ["From", download.url],
      ["Redirected to", download.effectiveURL !== download.url ? download.effectiveURL : ""],
      ["Connections", record.attempts?.at(-1)?.connections > 0 ? String(record.attempts.at(-1).connections) : ""],
      ["Priority", download.priority ? String(download.priority) : ""],
      ["Limit", download.rateLimit ? `${bytes(download.rateLimit)}/s` : ""],
      ["Added", time(new Date(download.created))], ["Session", download.session],
      ["Certificates", record.request?.trust === "insecure" ? "not verified" : ""],
    ]),
    ...(download.total ? [element("h3", { text: "Parts" }), pieces(record, download.total)] : []),
    ...(record.request?.mirrors?.length ? [element("h3", { text: "Mirrors" }), element("ol", {}, ...record.request.mirrors.map((url) => element("li", { text: url })))] : []),
    ...(version.childElementCount ? [element("h3", { text: "Version" }), version] : []),
    element("h3", { text: "Attempts" }), attempts(record),
    ...(download.state === "completed" ? [] : [
      element("h3", { text: "The link has expired?" }),
      element("form", { on: { submit: attempt(async () => { await actions.replace(id, address.value); address.value = ""; }) } }, address, button("Replace", "replace", attempt(async () => { if (address.reportValidity()) { await actions.replace(id, address.value); address.value = ""; } }))),
    ]),
    ...(record.request?.pieces ? [element("h3", { text: "Repair" }), button("Check the file and fetch wrong parts", "repair", attempt(() => actions.repair(download)))] : []),
    problem,
  );
  if (focused) box.querySelector(`[data-part="${focused}"]`)?.focus();
}
