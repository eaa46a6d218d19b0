// The client of dlm's own API: requests, the stream of events, and the table of all downloads.

import { waitReason } from "./format.js";

const key = "dlm-secret";

// Returns the secret. `dlm rpc open` puts it into the fragment (after #) of the page's address. From there it is moved to
// the session storage at once.
export function takeSecret() {
  const given = new URLSearchParams(location.hash.slice(1)).get("secret");
  if (given) {
    sessionStorage.setItem(key, given);
    history.replaceState(null, "", location.pathname + "#state=all");
  }
  return sessionStorage.getItem(key);
}

export const setSecret = (secret) => sessionStorage.setItem(key, secret);

export class Refused extends Error {}

// The server asks to wait: too many wrong secrets from this address, or too many connections.
export class Busy extends Error {
  constructor(message, after) { super(message); this.after = after; }
}

// Requests that only read, and all others, are given up after these times, in milliseconds.
const readTime = 20_000, changeTime = 90_000;
// The server sends an empty line every 15 to 30 s to a stream without events.
const streamTime = 45_000;

export async function ask(method, path, body, signal) {
  const answer = await fetch(`/v1${path}`, {
    method, cache: "no-store", credentials: "omit", signal: signal ?? AbortSignal.timeout(method === "GET" ? readTime : changeTime),
    headers: { Authorization: `Bearer ${sessionStorage.getItem(key) ?? ""}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  if (answer.status === 401) throw new Refused("This is not the secret. To print the secret, run: dlm rpc secret");
  if (answer.status === 429 || (answer.status === 503 && !answer.headers.get("content-type")?.includes("json"))) {
    const seconds = Number(answer.headers.get("retry-after"));
    throw new Busy((await answer.text()).trim() || "too many requests", seconds > 0 ? Math.min(seconds, 3600) : 10);
  }
  return answer;
}

export async function call(method, path, body) {
  const answer = await ask(method, path, body);
  const text = await answer.text();
  let document = {};
  try { document = JSON.parse(text); } catch { /* a text for people */ }
  if (!answer.ok) throw Object.assign(new Error(document.error?.message || text.trim() || answer.statusText), { status: answer.status });
  return document;
}

// The fields of a download that the list shows. `progress`, which tells until when a download waits, is only requested for
// downloads that changed or wait.
const fields = "id,name,url,state,received,total,priority,rateLimit,path,error,created";

function slim(download) {
  const { id, name, url, state, received, total, priority, rateLimit, path, error, created, progress } = download;
  return { id, name, url, state, received, total, priority, rateLimit, path, error: error?.message, created: new Date(created), wait: waitReason(progress?.state) };
}

export class Downloads extends EventTarget {
  rows = new Map();
  cursor = null;
  isLoading = false;
  news = null;
  #dirty = new Set();
  #timer = null;
  #quietUntil = 0;
  #stream = null;

  tell(kind, detail) { this.dispatchEvent(new CustomEvent(kind, { detail })); }
  changed() { this.tell("change"); }
  get mayAsk() { return performance.now() >= this.#quietUntil; }

  #busy(error) {
    this.#quietUntil = performance.now() + error.after * 1000;
    this.tell("busy", error);
  }

  #answered() {
    this.news = new Date();
    this.tell("online");
  }

  // Loads the newest downloads first, because they are at the top of the list. The others follow in pages.
  async load() {
    const seen = new Set();
    const take = (page) => {
      for (const download of page.downloads) {
        seen.add(download.id);
        this.#put(download);
        if (download.state === "waiting") this.#look(download.id);
      }
      this.news = new Date();
      this.changed();
    };
    // After a failure, the list counts as incomplete until it was loaded again.
    this.isLoading = true;
    const newest = await call("GET", `/downloads?all=true&limit=200&fields=${fields}`);
    take(newest);
    for (let after = 0, more = newest.more; more;) {
      const page = await call("GET", `/downloads?all=true&limit=1000&after=${after}&fields=${fields}`);
      take(page);
      more = page.more && page.downloads.length > 0;
      after = page.downloads.at(-1)?.id;
    }
    for (const id of this.rows.keys()) if (!seen.has(id)) this.rows.delete(id);
    this.isLoading = false;
    this.changed();
  }

  // Reads events forever. After a lost connection, it continues after the last received event.
  async follow() {
    for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
      let pause = wait;
      try {
        await this.#read(() => { pause = wait = 500; });
        this.tell("offline");
      } catch (error) {
        if (error instanceof Refused) return this.tell("refused", error.message);
        if (error instanceof Busy) {
          this.#busy(error);
          pause = error.after * 1000;
        } else this.tell("offline");
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  async #read(begun) {
    const isFirst = this.cursor == null;
    const stop = this.#stream = new AbortController();
    let alarm = setTimeout(() => stop.abort(), readTime);
    try {
      const answer = await ask("GET", `/events${isFirst ? "" : `?since=${this.cursor}`}`, null, stop.signal);
      if (answer.status === 503) throw new Busy("too many pages are open", 10);
      if (!answer.ok) throw new Error(await answer.text());
      clearTimeout(alarm);
      if (isFirst) await this.load();
      begun();
      this.#answered();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        alarm = setTimeout(() => stop.abort(), streamTime);
        const { value, done } = await reader.read();
        clearTimeout(alarm);
        if (done) return;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.trim()) await this.#take(JSON.parse(line));
      }
    } finally {
      clearTimeout(alarm);
      stop.abort();
    }
  }

  reconnect() { this.#stream?.abort(); }

  async #take(event) {
    if (event.event === "didLoseEvents") await this.load();
    if (event.cursor != null) this.cursor = event.cursor;
    if (event.id == null) return;
    if (event.event === "removed") {
      if (this.rows.delete(event.id)) this.changed();
      return;
    }
    if (event.event === "completed" || event.event === "failed") this.tell("ended", event);
    const row = this.rows.get(event.id);
    if (row) Object.assign(row, { state: event.state, received: event.received, total: event.total ?? row.total, wait: waitReason(event.detail) });
    this.#look(event.id);
    this.changed();
  }

  #look(id) {
    this.#dirty.add(id);
    this.#timer ??= setTimeout(() => this.#refresh(), 200);
  }

  async #refresh() {
    const ids = [...this.#dirty].slice(0, 500);
    let wait = 200;
    for (const id of ids) this.#dirty.delete(id);
    try {
      await this.#update(ids);
    } catch (error) {
      if (!(error instanceof Refused)) for (const id of ids) this.#dirty.add(id);
      wait = (error.after ?? 2) * 1000;
    }
    this.changed();
    this.#timer = this.#dirty.size ? setTimeout(() => this.#refresh(), wait) : null;
  }

  async #update(ids) {
    try {
      const page = await call("GET", `/downloads?ids=${ids.join(",")}&fields=${fields},progress`);
      for (const download of page.downloads) this.#put(download);
    } catch (error) {
      if (error.status !== 404) throw error;
      // At least one of the downloads was removed. Halving finds it.
      if (ids.length === 1) this.rows.delete(ids[0]);
      else for (const half of [ids.slice(0, ids.length / 2), ids.slice(ids.length / 2)]) await this.#update(half);
    }
  }

  #put(download) {
    this.rows.set(download.id, Object.assign(this.rows.get(download.id) ?? { speed: 0 }, slim(download)));
  }

  // Fetches the progress of the active downloads, and returns their total speed. Speeds are measured here, between two
  // calls.
  async progress() {
    try {
      const page = await call("GET", "/progress");
      this.#answered();
      return this.#measure(page.downloads);
    } catch (error) {
      if (error instanceof Busy) this.#busy(error);
      throw error;
    }
  }

  #measure(active) {
    const now = performance.now();
    const running = new Set();
    let total = 0;
    for (const one of active) {
      const row = this.rows.get(one.id);
      if (!row) continue;
      running.add(one.id);
      const seconds = (now - (row.at ?? now)) / 1000;
      if (seconds > 0 && one.state === "running") {
        const speed = Math.max(0, one.received - row.seen) / seconds;
        row.speed = row.speed ? row.speed * 0.6 + speed * 0.4 : speed;
        (row.history ??= []).push([now, speed]);
        if (row.history.length > 300) row.history.shift();
      }
      Object.assign(row, {
        state: one.state, received: one.received, total: one.total ?? row.total, at: now, seen: one.received,
        phase: one.progress?.phase, wait: waitReason(one.progress?.state),
      });
      if (one.state !== "running") row.speed = 0;
      total += row.speed;
    }
    for (const row of this.rows.values()) if (row.at && !running.has(row.id)) Object.assign(row, { speed: 0, at: undefined, phase: undefined });
    this.changed();
    return total;
  }
}
