// The server's answers, or a Problem with what went wrong and the way out.

const BASE = "api/v1/";

export class Problem extends Error {
  constructor({ title = "", detail = "", hint = "", status = 0 }) {
    super(detail || title);
    Object.assign(this, { title, detail, hint, status });
  }

  // Whether the same request may work another time.
  get passes() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const AWAY = {
  title: "The server does not answer",
  hint: "Is softhash serve still running? Start it again, then try once more.",
};

// The standard's phrases (“Unprocessable Content”) help a person little; detail and hint do.
const titleOf = (status) =>
  status === 404 ? "Not found" : status < 500 ? "This did not work" : "The server has a problem";

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(new URL(BASE + path, document.baseURI), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(AWAY);
  }
  if (answer.ok) return answer.json();
  throw new Problem({ ...(await problemOf(answer)), status: answer.status });
}

async function problemOf(answer) {
  try {
    const { detail, hint } = await answer.json();
    return { title: titleOf(answer.status), detail: String(detail), hint };
  } catch { // an answer of something between here and the server
    return { title: titleOf(answer.status), detail: `Status ${answer.status}.` };
  }
}

function fill(target, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined) target.append(name, one);
    }
  }
  return target;
}

const query = (values) => fill(new URLSearchParams(), values);

let originals = false; // whether the server sends files as they are

export async function index() {
  const about = await request("index");
  originals = about.originals;
  return about;
}

export const item = (id, signal) => request(`items/${id}`, { signal });

export const items = (values, signal) => request(`items?${query(values)}`, { signal });

// The item whose file has this content, if there is one.
export const itemOf = async (sha256, signal) =>
  (await request(`items?${query({ sha256, limit: 1 })}`, { signal })).items[0] ?? null;

// Words that complete a beginning, the most common first.
export const words = async (values, signal) =>
  (await request(`words?${query(values)}`, { signal })).words;

export const folders = (signal) => request("folders", { signal });

export const report = (signal) => request("report", { signal });

export const similar = (id, values, signal) =>
  request(`items/${id}/similar?${query(values)}`, { signal });

export const search = (values, signal) =>
  request("search", { method: "POST", body: fill(new FormData(), values), signal });

// Address of an item's picture in one of the widths that the server makes; null without one.
export function picture(item, width) {
  if (!item.image) return null;
  const address = new URL(item.image, document.baseURI);
  address.searchParams.set("width", width);
  return address.href;
}

// Address of a zip of files; null where the server does not send them.
export const archive = (ids) =>
  (originals ? new URL(`${BASE}archive?${query({ id: ids })}`, document.baseURI).href : null);

// Address of the file itself; null where there is none, or the server does not send it.
export const original = (item) =>
  (originals && item.image ? new URL(`${BASE}items/${item.id}/file`, document.baseURI).href : null);
