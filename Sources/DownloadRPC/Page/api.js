// The client of dlm's own API: requests with the secret, the stream of events, and the table of all downloads.

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
export const forgetSecret = () => sessionStorage.removeItem(key);

export class Refused extends Error {}

export async function ask(method, path, body, signal) {
  const answer = await fetch(`/v1${path}`, {
    method, signal, cache: "no-store", credentials: "omit",
    headers: { Authorization: `Bearer ${sessionStorage.getItem(key) ?? ""}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  if (answer.status === 401) throw new Refused("This is not the secret. To print the secret, run: dlm rpc secret");
  if (answer.status === 429) throw new Refused((await answer.text()).trim());
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

// Returns the fields of a download that the list shows. For the details, the whole record is fetched again.
function slim(download) {
  const { id, name, url, state, received, total, priority, folder, path, error, updated } = download;
  return { id, name, url, state, received, total, priority, folder, path, error: error?.message, updated, speed: 0 };
}

export class Downloads extends EventTarget {
  rows = new Map();
  cursor = null;
  #dirty = new Set();
  #timer = null;

  changed() { this.dispatchEvent(new Event("change")); }
  tell(kind, detail) { this.dispatchEvent(new CustomEvent(kind, { detail })); }

  async load() {
    const rows = new Map();
    let after = 0;
    for (;;) {
      const page = await call("GET", `/downloads?all=true&limit=5000&after=${after}`);
      for (const download of page.downloads) rows.set(download.id, slim(download));
      if (!page.more || !page.downloads.length) break;
      after = page.downloads.at(-1).id;
    }
    this.rows = rows;
    this.changed();
  }

  // Reads events forever. After a lost connection, it continues after the last received event.
  async follow() {
    for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
      try {
        await this.#read(() => { wait = 500; });
      } catch (error) {
        if (error instanceof Refused) return this.tell("refused", error.message);
      }
      this.tell("offline", Math.round(wait / 1000) || 1);
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  async #read(begun) {
    const isFirst = this.cursor == null;
    const answer = await ask("GET", `/events${isFirst ? "" : `?since=${this.cursor}`}`);
    if (!answer.ok) throw new Error(await answer.text());
    if (isFirst) await this.load();
    begun();
    this.tell("online");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) await this.#take(JSON.parse(line));
    }
  }

  async #take(event) {
    if (event.cursor != null) this.cursor = event.cursor;
    if (event.event === "didLoseEvents") return this.load();
    if (event.id == null) return;
    if (event.event === "removed") {
      if (this.rows.delete(event.id)) this.changed();
      return;
    }
    if (event.event === "completed" || event.event === "failed") this.tell("ended", event);
    const row = this.rows.get(event.id);
    if (row) Object.assign(row, { state: event.state, received: event.received, total: event.total ?? row.total });
    this.#dirty.add(event.id);
    this.#timer ??= setTimeout(() => this.#refresh(), 200);
    this.changed();
  }

  async #refresh() {
    const ids = [...this.#dirty].slice(0, 500);
    for (const id of ids) this.#dirty.delete(id);
    let wait = 200;
    try {
      const page = await call("GET", `/downloads?ids=${ids.join(",")}`);
      for (const download of page.downloads) this.rows.set(download.id, Object.assign(this.rows.get(download.id) ?? {}, slim(download)));
      this.changed();
    } catch (error) {
      // If one of the downloads was removed, each download is requested separately. If the session does not answer, all
      // downloads are requested again later.
      if (error.status === 404) for (const id of ids) await this.#look(id);
      else if (!(error instanceof Refused)) { for (const id of ids) this.#dirty.add(id); wait = 2000; }
      this.changed();
    }
    this.#timer = this.#dirty.size ? setTimeout(() => this.#refresh(), wait) : null;
  }

  async #look(id) {
    try {
      this.rows.set(id, Object.assign(this.rows.get(id) ?? {}, slim(await call("GET", `/downloads/${id}`))));
    } catch (error) {
      if (error.status === 404) this.rows.delete(id); else this.#dirty.add(id);
    }
  }

  // Fetches the progress of the active downloads, and returns their total speed. Speeds are measured here, between two
  // calls.
  async progress() {
    const now = performance.now();
    const page = await call("GET", "/progress");
    const running = new Set();
    let total = 0;
    for (const one of page.downloads) {
      const row = this.rows.get(one.id);
      if (!row) continue;
      running.add(one.id);
      const span = (now - (row.at ?? now)) / 1000;
      if (span > 0 && one.state === "running") {
        const speed = Math.max(0, one.received - row.seen) / span;
        row.speed = row.speed ? row.speed * 0.6 + speed * 0.4 : speed;
      }
      Object.assign(row, { state: one.state, received: one.received, total: one.total ?? row.total, at: now, seen: one.received });
      if (one.state !== "running") row.speed = 0;
      total += row.speed;
    }
    for (const row of this.rows.values()) if (row.speed && !running.has(row.id)) { row.speed = 0; row.at = undefined; }
    this.changed();
    return total;
  }
}
