// The address ⇄ what is shown: every state of the page is a link that can be shared.

export const VIEWS = ["search", "item", "browse", "quality"];

// What narrows a search or a list.
export const OPEN = { radius: null, labels: [], without: [], all: false, where: "", folder: null };

const START = { view: "search", id: null, code: null, rescore: false, ...OPEN };

const number = (text) => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : null);

export function parse(hash) {
  const [path, text = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  const given = new URLSearchParams(text);
  const code = given.get("code") ?? "";
  const item = number(id ?? given.get("id"));
  const known = VIEWS.includes(view) ? view : "search";
  return {
    ...START,
    view: known === "item" && item === null ? "browse" : known,
    id: item,
    code: /^[0-9a-f]+$/i.test(code) ? code.toLowerCase() : null,
    radius: number(given.get("radius")),
    labels: given.getAll("label"),
    without: given.getAll("without"),
    all: given.get("all") === "1",
    where: given.get("where") ?? "",
    folder: given.get("folder"),
    rescore: given.get("rescore") === "1",
  };
}

export function link(changes) {
  const state = { ...START, ...changes };
  const given = new URLSearchParams();
  if (state.view === "search" && state.id !== null) given.set("id", state.id);
  else if (state.view === "search" && state.code !== null) given.set("code", state.code);
  if (state.rescore && given.size) given.set("rescore", 1);
  if (state.view === "search" && state.radius !== null) given.set("radius", state.radius);
  if (state.view === "search" || state.view === "browse") {
    state.labels.forEach((label) => given.append("label", label));
    state.without.forEach((label) => given.append("without", label));
    if (state.all) given.set("all", 1);
    if (state.where) given.set("where", state.where);
  }
  if (state.view === "browse" && state.folder !== null) given.set("folder", state.folder);
  const path = state.view === "item" ? `item/${state.id}` : state.view;
  return `#/${path}${given.size ? `?${given}` : ""}`;
}

export const now = () => parse(location.hash);

// What each visited address showed, so that going back finds it as it was left.
const visits = new Map();

export function visit() {
  const key = location.hash;
  if (!visits.has(key)) visits.set(key, { y: 0, shown: 0 });
  return visits.get(key);
}

let follow = () => {};
let here = location.hash;

// Call `changed(state, back)` now and whenever the address changes.
export function watch(changed) {
  follow = (back) => {
    here = location.hash;
    if (!back) visits.delete(here);
    changed(now(), back);
  };
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    if (location.hash === here) visit().y = scrollY;
  }, { passive: true });
  addEventListener("popstate", () => {
    if (location.hash === here) return;
    const back = history.state !== null; // a followed link makes an entry without a state
    if (!back) history.replaceState({}, "");
    follow(back);
  });
  history.replaceState({}, "");
  follow(false);
}

// Go to a state, and return whether it was another one.
export function go(state, { replace = false } = {}) {
  if (link(state) === location.hash) return false;
  history[replace ? "replaceState" : "pushState"]({}, "", link(state));
  follow(false);
  return true;
}
