// The dialog that adds downloads.

import { call } from "./api.js";
import { bytes, element, parseRate, recall, remember } from "./format.js";

const $ = (id) => document.getElementById(id);
const largestFile = 1.5 * 2 ** 20;
const key = "dlm-add";
// These fields are remembered. Secrets, passwords and header fields are never stored.
const remembered = ["folder", "below", "exists", "connections", "rate", "priority"];

let documents = [];
let probes = new Map();
let canProbe = true;
let twinOf = () => null;
let bad = [];
let timer = null;

export const badLines = () => bad;
export const hasAddress = (text) => /^\s*(https?|ftps?|sftp):\/\//m.test(text);
const isAddress = (text) => /^(https?|ftps?|sftp):\/\/[^\s/]/i.test(text) && URL.canParse(text);

const givenLines = () => $("urls").value.split("\n").map((line, index) => ({ url: line.trim(), number: index + 1 })).filter(({ url }) => url && !url.startsWith("#"));

function readMetalink(name, text) {
  const files = [...new DOMParser().parseFromString(text, "application/xml").getElementsByTagNameNS("*", "file")];
  if (!files.length) throw new Error(`${name}: not a Metalink document`);
  const sizes = files.map((file) => Number(file.getElementsByTagNameNS("*", "size")[0]?.textContent));
  const size = sizes.reduce((sum, one) => sum + one, 0) || 0;
  return { text, size, title: `${name}: ${files.length === 1 ? files[0].getAttribute("name") : `${files.length} files`}${size ? `, ${bytes(size)}` : ""}` };
}

async function takeFile(file) {
  if (file.size > largestFile) throw new Error(`${file.name}: larger than ${bytes(largestFile)}`);
  const text = await file.text();
  if (/<metalink[\s>]/.test(text)) documents.push(readMetalink(file.name, text));
  else if (hasAddress(text)) append(text);
  else throw new Error(`${file.name}: no list of addresses, and no Metalink document`);
}

export async function takeFiles(files) {
  const results = await Promise.allSettled([...files].slice(0, 20).map(takeFile));
  $("adding").querySelector(".problem").textContent = results.map(({ reason }) => reason?.message).filter(Boolean).join("\n");
  look();
}

function append(text) {
  $("urls").value = [$("urls").value.trim(), text.trim()].filter(Boolean).join("\n");
}

// The server looks at the addresses when the user stops typing.

function folder() {
  const below = $("below").value.trim().replace(/^\/+|\/+$/g, "");
  return $("folder").value + (below ? `/${below}` : "");
}

const probeOf = (url) => probes.get(`${folder()}\n${url}`);

async function probe(url) {
  const name = `${folder()}\n${url}`;
  if (probes.has(name) || !canProbe) return;
  probes.set(name, { texts: ["asking the server …"] });
  try {
    const found = await call("POST", "/probe", { url, folder: folder() });
    const texts = [found.name, found.size == null ? "size unknown" : bytes(found.size), found.resumable ? "resumable" : "not resumable"];
    if (found.exists) texts.push("a file of this name exists in the folder");
    probes.set(name, { size: found.size, texts });
  } catch (error) {
    // Older servers have no such route.
    canProbe = !(error.status === 404 && error.message.includes("/v1/probe"));
    probes.set(name, { texts: canProbe ? [error.message] : [] });
  }
  drawPreview();
}

function previewLine({ url, number }, _, lines) {
  const twin = twinOf(url);
  const texts = [...probeOf(url)?.texts ?? [], ...(twin ? [`you have this already: ${twin.name} (number ${twin.id})`] : [])];
  return texts.length ? [element("li", {}, lines.length > 1 ? `${number}: ` : "", texts.join(" · "))] : [];
}

function drawPreview() {
  const items = [...documents.map(({ title }) => element("li", { text: title })), ...givenLines().slice(0, 200).flatMap(previewLine)];
  $("preview").replaceChildren(...items.slice(0, 12));
  tellRoom();
}

async function look() {
  drawPreview();
  for (const { url } of givenLines().filter(({ url }) => isAddress(url)).slice(0, 5)) await probe(url);
}

function refresh() {
  clearTimeout(timer);
  timer = setTimeout(look, 700);
}

function tellRoom() {
  const known = $("folder").selectedOptions[0]?.dataset.free;
  const free = known ? Number(known) : Infinity;
  const wanted = [...givenLines().map(({ url }) => probeOf(url)), ...documents].reduce((sum, one) => sum + (one?.size ?? 0), 0);
  $("room").classList.toggle("bad", wanted > free);
  $("room").textContent = !known ? "The folder will be created when it is needed."
    : `${bytes(free)} free` + (!wanted ? "" : wanted > free ? `, ${bytes(wanted - free)} too little` : `, ${bytes(free - wanted)} after this`);
}

function reportLines(found, message) {
  bad = [...bad, ...found.map(({ number }) => number)];
  const lines = $("urls").value.split("\n").slice(0, found[0].number);
  const end = lines.join("\n").length;
  $("urls").focus();
  $("urls").setSelectionRange(end - lines.at(-1).length, end);
  const others = givenLines().length - bad.length;
  $("others").hidden = !others;
  $("others").textContent = others === 1 ? "Add the other one" : `Add the other ${others}`;
  throw new Error(message);
}

function checkLines(lines) {
  const wrong = lines.filter(({ url }) => !isAddress(url));
  if (!wrong.length) return;
  const numbers = wrong.map(({ number }) => number).join(", ");
  reportLines(wrong, `${wrong.length === 1 ? "Line" : "Lines"} ${numbers}: “${wrong[0].url.slice(0, 80)}” is not an address such as https://example.org/file. Nothing was added.`);
}

// Returns the fields of the request without the addresses.
function options() {
  const value = (id) => $(id).value.trim() || undefined;
  const headers = $("headers").value.split("\n").filter((line) => line.trim()).map((line) => /^\s*([^:\s]+):\s*(.*?)\s*$/.exec(line)?.slice(1));
  if (headers.includes(undefined)) throw new Error("Header fields: give each line as Name: value");
  return {
    folder: folder(), ifExists: $("exists").value, file: value("name"), checksum: value("checksum"), connections: Number(value("connections")) || undefined,
    rateLimit: parseRate($("rate").value) || undefined, priority: Number(value("priority")) || undefined, paused: $("paused").checked || undefined,
    user: value("user"), password: value("user") && $("password").value, headers: headers.length ? headers : undefined,
    options: value("referer") && { http: { referer: value("referer") } },
  };
}

async function addLines(lines, shared) {
  try {
    return (await call("POST", "/downloads", { ...shared, urls: lines.map(({ url }) => url) })).downloads;
  } catch (error) {
    // The server names the address that it refuses, but not the line.
    const wrong = lines.filter(({ url }) => error.message.includes(url)).sort((one, other) => other.url.length - one.url.length)[0];
    if (!wrong || lines.length === 1) throw error;
    reportLines([wrong], `Line ${wrong.number}: ${error.message}. Nothing was added.`);
  }
}

async function addDocument({ text, title }, shared) {
  try {
    return (await call("POST", "/downloads", { ...shared, metalink: text })).downloads ?? [];
  } catch ({ message }) {
    throw new Error(`${title}: ${message.includes("urls: missing") ? "this version of dlm takes no Metalink documents from the page" : message}`);
  }
}

// Adds all documents, and all lines except those with the given numbers. Returns the added downloads.
export async function add(without = []) {
  bad = without;
  $("others").hidden = true;
  const lines = givenLines().filter(({ number }) => !without.includes(number));
  if (!lines.length && !documents.length) throw new Error("Give at least one address");
  const shared = options();
  if (shared.file && lines.length + documents.length > 1) throw new Error("A name can be given only for a single address");
  checkLines(lines);
  const added = lines.length ? await addLines(lines, shared) : [];
  // What was added leaves the dialog, so that it is not added again after a failure.
  $("urls").value = $("urls").value.split("\n").filter((_, index) => without.includes(index + 1)).join("\n");
  for (; documents.length; documents.shift(), drawPreview()) added.push(...await addDocument(documents[0], shared));
  remember(key, Object.fromEntries(remembered.map((id) => [id, $(id).value])));
  for (const id of ["name", "checksum", "headers", "password"]) $(id).value = "";
  return added;
}

// `twin` finds a download by its URL.
export async function prepare(text, twin) {
  twinOf = twin;
  probes = new Map();
  documents = [];
  const last = recall(key) ?? {};
  for (const id of remembered) if (last[id] != null) $(id).value = last[id];
  $("others").hidden = true;
  append(text);
  $("urls").focus();
  const { folders } = await call("GET", "/folders");
  $("folder").replaceChildren(...folders.map((one) => element("option", { value: one.path, text: one.path, "data-free": String(one.free ?? "") })));
  if (folders.some((one) => one.path === last.folder)) $("folder").value = last.folder;
  look();
}

$("urls").addEventListener("input", () => { $("others").hidden = true; refresh(); });
$("below").addEventListener("input", refresh);
$("folder").addEventListener("change", look);
$("files").addEventListener("change", async () => {
  await takeFiles($("files").files);
  $("files").value = "";
});
