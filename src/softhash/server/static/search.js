// Search: before a query an invitation, after it a grid of hits, with the query and filters beside.

import * as api from "./api.js";
import { filters } from "./filters.js";
import { groupTies, hitGrid } from "./grid.js";
import { distanceOf, limitWords } from "./likeness.js";
import { likelyLabels } from "./likely.js";
import { button, count, element, empty, photo, tags } from "./parts.js";
import { aboutQuery, details } from "./query.js";
import { selectButton } from "./selection.js";
import { go, link, now, OPEN, visit } from "./state.js";
import { asksForLabels, inWords, parameters } from "./wanted.js";

const PAGE = 24;
const MOST = 480; // how many are fetched at once when one comes back to a long list
const ROUNDS = 4; // how often further ones are fetched where folding leaves gaps

export function mount(main, context) {
  const start = startPart(context);
  const found = foundPart(context);
  main.replaceChildren(start.node, found.node);
  return async (state, signal) => {
    const asks = state.id !== null || state.code !== null;
    if (asks) await found.update(state, signal);
    else await start.update(signal);
    start.node.hidden = asks;
    found.node.hidden = !asks;
    return asks ? "Similar pictures" : "Search";
  };
}

function startPart({ index, pick }) {
  const samples = element("ul", { class: "grid samples" });
  const encodes = index.encodes !== false; // an index of codes alone has no model for pictures
  const invitation = encodes ? "Or start from one of these" : "Start from one of these";
  const offered = element("section", { hidden: true }, element("h2", {}, invitation), samples);
  const node = element("section", { class: "start", hidden: true },
    element("h1", {}, "Find pictures by what is in them"),
    encodes ? dropzone(index, pick) : null, offered);
  const update = async (signal) => {
    if (samples.children.length || !index.items) return;
    const { items } = await api.items({ limit: 12 }, signal);
    samples.replaceChildren(...items.map(sample));
    offered.hidden = !items.length;
  };
  return { node: index.items ? node : emptyIndex(), update };
}

const dropzone = (index, pick) => element("div", { class: "dropzone" },
  element("p", {}, "Drop a picture anywhere on this page, paste one, or"),
  button("Choose a picture", pick, "primary"),
  element("p", { class: "help" },
    `The most alike of ${count(index.items, "picture", "pictures")} are shown. ` +
    "Your picture is not kept."));

// Unlike a card of the grid, it leads to a search at once.
const sample = (item) => element("li", { class: "card" },
  element("a", { class: "picture", href: link({ id: item.id }) }, photo(item, 320)),
  tags(item.labels));

export const emptyIndex = () => empty("This index is empty",
  "Add pictures in a terminal, then load this page again:",
  element("code", {}, "softhash index PICTURES -o INDEX"));

// What narrows a search, said where the pictures are; also that it was kept for another picture.
function activeFilters(bits) {
  const text = element("span");
  const clear = button("Clear filters", () => go({ ...now(), ...OPEN }), "plain");
  const node = element("p", { class: "active", hidden: true }, text, clear);
  const set = (state, kept) => {
    const parts = inWords(state);
    if (state.radius !== null) parts.push(limitWords(state.radius, bits));
    const intro = kept ? "Your filters still apply" : "Only pictures";
    text.textContent = `${intro}: ${parts.join(" · ")}`;
    node.hidden = !parts.length;
  };
  return { node, set };
}

// The query's own file is the first hit, wherever the ranking has it.
function ownFirst(hits, own, state, { code }, bits) {
  if (!own) return hits;
  const place = hits.findIndex(({ id }) => id === own.id);
  if (place < 0 && asksForLabels(state)) return hits; // it may not have them
  const itself = hits[place] ?? { ...own, shared: [], distance: distanceOf(own.code, code, bits) };
  return [{ ...itself, own: true }, ...hits.filter(({ id }) => id !== own.id)];
}

function foundPart(context) {
  const { index, pick, say } = context;
  const query = element("div", { class: "query" });
  const change = (part, replace) => go({ ...now(), ...part }, { replace });
  const likely = likelyLabels(index.labels, (part) => change(part, false));
  const narrow = filters(index, change);
  const active = activeFilters(index.bits);
  const more = button("More", () => page(), "more");
  const grid = hitGrid({ view: context.view, more: () => (more.hidden ? null : page()) });
  const technical = details(index.bits, grid.detail);
  const heading = element("h1", {}, "Similar pictures");
  const summary = element("p", { class: "summary" });
  const none = element("div");
  let hits = [];
  let asked = null;

  const node = element("section", { class: "found", hidden: true },
    element("aside", { class: "side", "aria-label": "Query and filters" }, query,
      element("div", { class: "tools" },
        index.encodes === false ? null : button("Another picture", pick),
        narrow.node, technical.node)),
    element("div", { class: "hits" },
      element("div", { class: "head" }, heading, summary, selectButton()), active.node,
      grid.list, none, more));

  async function fetchHits(state, offset, k, signal) {
    const values = { k, offset, ...parameters(state), max_distance: state.radius };
    const features = index.features ? "features" : null;
    if (state.id !== null) {
      const rescore = state.rescore ? features : null;
      return api.similar(state.id, { ...values, rescore }, signal);
    }
    const image = state.rescore ? context.upload(state.code)?.sent : null;
    const target = image ? { image, rescore: features ?? "bits" } : { code: state.code };
    return api.search({ ...values, ...target }, signal);
  }

  // Fetch further hits until there are `cards` that are not folded, or no more.
  async function fill(state, found, cards, first, signal) {
    let k = first;
    for (let round = 1; ; round += 1) {
      const answer = await fetchHits(state, found.length, k, signal);
      found = [...found, ...answer.hits];
      const most = index.limits?.max_offset ?? Infinity;
      const ended = answer.hits.length < k || found.length >= most;
      if (ended || round === ROUNDS || groupTies(found).length >= cards) {
        return { answer, found, ended };
      }
      k = round === 1 ? PAGE : 2 * k;
    }
  }

  function show({ answer, found, ended }, state, cards) {
    hits = found;
    const given = context.upload(answer.query.code);
    const wanted = given?.labels ?? answer.query.labels ?? [];
    const { radius, labels, without, all, where } = state;
    grid.show(ownFirst(hits, given?.own, state, answer.query, index.bits), {
      wanted, code: answer.query.code, bits: index.bits, rescore: state.rescore,
      keep: {
        radius, labels, without, all, where,
        rescore: state.rescore && Boolean(index.features), // an item has no outputs
      },
    }, cards);
    more.hidden = ended;
    none.replaceChildren(...(hits.length ? [] : [nothing(state, index)]));
    const shown = count(hits.length, "picture", "pictures");
    summary.textContent = hits.length ? `${shown}, the most alike first` : "";
    technical.set(answer, wanted);
    const narrowed = active.node.hidden ? "" : ", filters apply";
    say(hits.length ? `${shown} found${narrowed}` : "Nothing found");
    visit().shown = hits.length;
  }

  async function page() {
    const state = now();
    const cards = grid.list.querySelectorAll(".card:not([hidden])").length + PAGE;
    await context.work(async (signal) => {
      show(await fill(state, hits, cards, PAGE, signal), state, cards);
    }, page);
  }

  async function update(state, signal) {
    likely.set(state);
    const picture = state.id === null ? context.upload(state.code) : index.features;
    narrow.set(state, Boolean(picture));
    active.set(state, state.code !== null && context.keptFor === state.code);
    const k = Math.min(MOST, Math.max(PAGE, visit().shown));
    const who = state.id ?? state.code;
    const [filled, item] = await Promise.all([
      fill(state, [], PAGE, k, signal),
      state.id !== null ? api.item(state.id, signal) : null,
    ]);
    const given = context.upload(state.code);
    if (asked !== who) query.replaceChildren(...aboutQuery(item, given, likely));
    asked = who;
    show(filled, state, PAGE);
  }

  return { node, update };
}

function nothing(state, index) {
  const labelled = asksForLabels(state);
  const widen = button("However alike", () => go({ ...now(), radius: null }), "primary");
  const clear = button("Clear labels",
    () => go({ ...now(), labels: [], without: [], where: "" }), "primary");
  if (state.radius !== null && labelled) {
    return empty("Nothing with these labels is that alike",
      "Allow pictures that are less alike, or ask for other labels.", widen, clear);
  }
  if (state.radius !== null) {
    return empty("Nothing is that alike",
      "Allow pictures that are less alike: move the slider to the right, or take away the limit.",
      widen);
  }
  if (labelled) {
    return empty("No picture has these labels", "Ask for fewer labels, or leave fewer out.", clear);
  }
  return index.items ? empty("Nothing found", "The index has no other picture.") : emptyIndex();
}
