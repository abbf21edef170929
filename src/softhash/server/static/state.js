// The address ⇄ what is shown: every state of the page is a link that can be shared.

export const VIEWS = ["search", "item", "browse", "quality"];

// What narrows a search or a list.
export const OPEN = {
  radius: null, sure: null, labels: [], without: [], all: false, where: "", given: false,
  folder: null, from: null, to: null, camera: "",
};

// What is searched for, and what it is tuned by; one of id, code and words.
export const NOTHING = { id: null, code: null, words: "", more: [], less: [], rescore: false };

const START = { view: "search", ...NOTHING, ...OPEN };

const number = (text) => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : null);

const percentage = (text) => {
  const value = number(text);
  return value > 0 && value <= 100 ? value : null;
};

const day = (text) => (/^\d{4}-\d\d-\d\d$/.test(text ?? "") && Date.parse(text) ? text : null);

export function parse(hash) {
  const [path, text = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  const given = new URLSearchParams(text);
  const code = given.get("code") ?? "";
  const item = number(id ?? given.get("id"));
  const known = VIEWS.includes(view) ? view : "search";
  return {
    view: known === "item" && item === null ? "browse" : known,
    id: item,
    code: /^[0-9a-f]+$/i.test(code) ? code.toLowerCase() : null,
    words: item !== null || code ? "" : (given.get("words") ?? "").trim(),
    more: given.getAll("more"),
    less: given.getAll("less"),
    rescore: given.get("rescore") === "1",
    radius: number(given.get("radius")),
    sure: percentage(given.get("sure")),
    labels: given.getAll("label"),
    without: given.getAll("without"),
    all: given.get("all") === "1",
    where: given.get("where") ?? "",
    given: given.get("given") === "1",
    folder: given.get("folder"),
    from: day(given.get("from")),
    to: day(given.get("to")),
    camera: given.get("camera") ?? "",
  };
}

function setQuery(given, state) {
  if (state.id === null && state.code === null) {
    if (state.words) given.set("words", state.words);
    return;
  }
  if (state.id !== null) given.set("id", state.id);
  else given.set("code", state.code);
  state.more.forEach((words) => given.append("more", words));
  state.less.forEach((words) => given.append("less", words));
  if (state.rescore) given.set("rescore", 1);
  if (state.radius !== null) given.set("radius", state.radius);
  if (state.sure !== null) given.set("sure", state.sure);
}

function setFilters(given, state) {
  state.labels.forEach((label) => given.append("label", label));
  state.without.forEach((label) => given.append("without", label));
  if (state.all) given.set("all", 1);
  if (state.where) given.set("where", state.where);
  if (state.given) given.set("given", 1);
  if (state.folder !== null) given.set("folder", state.folder);
  for (const name of ["from", "to", "camera"]) if (state[name]) given.set(name, state[name]);
}

export function link(changes) {
  const state = { ...START, ...changes };
  const given = new URLSearchParams();
  if (state.view === "search") setQuery(given, state);
  if (state.view === "search" || state.view === "browse") setFilters(given, state);
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
let held = false; // while a view is taken away: fields that lose the focus change nothing then
let failed = false; // whether what the address asks for is not there, so that asking again counts

export function quietly(change) {
  held = true;
  try {
    change();
  } finally {
    held = false;
  }
}

export const setFailed = (is) => { failed = is; };

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
    if (location.hash === here && !failed) return;
    const back = history.state !== null; // a followed link makes an entry without a state
    if (!back) history.replaceState({}, "");
    follow(back);
  });
  history.replaceState({}, "");
  follow(false);
}

// Go to a state, and return whether it was another one.
export function go(state, { replace = false } = {}) {
  if (held || (link(state) === location.hash && !failed)) return false;
  if (link(state) !== location.hash) {
    history[replace ? "replaceState" : "pushState"]({}, "", link(state));
  }
  follow(false);
  return true;
}
