// Search: before a query an invitation, after it the query, filters and a grid of hits.

import * as api from "./api.js";
import { filters } from "./filters.js";
import { hitGrid } from "./grid.js";
import { likelyLabels } from "./likely.js";
import {
  button, codeStrip, count, element, empty, fileName, legend, photo, tags,
} from "./parts.js";
import { go, link, now, visit } from "./state.js";

const PAGE = 24;
const MOST = 480; // how many are fetched at once when one comes back to a long list

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
    `It becomes a code of ${count(index.bits, "bit", "bits")}; the nearest codes of ` +
    `${count(index.items, "picture", "pictures")} are the answer.`));

// Unlike a card of the grid, it leads to a search at once.
const sample = (item) => element("li", { class: "card" },
  element("a", { class: "picture", href: link({ id: item.id }) }, photo(item, 320)),
  tags(item.labels));

export const emptyIndex = () => empty("This index is empty",
  "Add pictures in a terminal, then load this page again:",
  element("code", {}, "softhash index PICTURES -o INDEX"));

function foundPart(context) {
  const { index, pick, say } = context;
  const query = element("div", { class: "query" });
  const change = (part, replace) => go({ ...now(), ...part }, { replace });
  const likely = likelyLabels(index.labels, (part) => change(part, false));
  const narrow = filters(index, change);
  const grid = hitGrid();
  const heading = element("h1", {}, "Similar pictures");
  const summary = element("p", { class: "summary" });
  const explained = element("div");
  const none = element("div");
  const more = button("More", () => page(), "more");
  let hits = [];
  let asked = null;

  const node = element("section", { class: "found", hidden: true },
    element("aside", { class: "side", "aria-label": "Query and filters" }, query,
      index.encodes === false ? null : button("Search with another picture", pick, "wide"),
      narrow.node),
    element("div", { class: "hits" },
      element("div", { class: "head" }, heading, summary, explained), grid.list, none, more));

  async function fetchHits(state, offset, k, signal) {
    const values = {
      k, offset, label: state.labels, not_label: state.without, max_distance: state.radius,
    };
    const features = index.features ? "features" : null;
    if (state.id !== null) {
      const rescore = state.rescore ? features : null;
      return api.similar(state.id, { ...values, rescore }, signal);
    }
    const file = state.rescore ? context.upload(state.code)?.file : null;
    const asked = file ? { image: file, rescore: features ?? "bits" } : { code: state.code };
    return api.search({ ...values, ...asked }, signal);
  }

  function show(answer, state, k) {
    const wanted = context.upload(answer.query.code)?.labels ?? answer.query.labels ?? [];
    grid.show(hits, {
      wanted, code: answer.query.code, bits: index.bits, rescore: state.rescore,
      keep: {
        radius: state.radius, labels: state.labels, without: state.without,
        rescore: state.rescore && Boolean(index.features), // an item has no outputs
      },
    });
    more.hidden = answer.hits.length < k || hits.length >= (index.limits?.max_offset ?? Infinity);
    none.replaceChildren(...(hits.length ? [] : [nothing(state, index)]));
    explained.replaceChildren(...(hits.length ? [legend(wanted.length > 0)] : []));
    const took = answer.took_ms < 1 ? "under 1 ms" : `${Math.round(answer.took_ms)} ms`;
    const shown = count(hits.length, "picture", "pictures");
    summary.textContent = hits.length ? `${shown}, nearest first · searched in ${took}` : "";
    say(hits.length ? `${shown} found` : "Nothing found");
    visit().shown = hits.length;
  }

  async function page() {
    const state = now();
    await context.work(async (signal) => {
      const answer = await fetchHits(state, hits.length, PAGE, signal);
      hits = [...hits, ...answer.hits];
      show(answer, state, PAGE);
    }, page);
  }

  async function update(state, signal) {
    likely.set(state);
    const picture = state.id === null ? context.upload(state.code) : index.features;
    narrow.set(state, Boolean(picture));
    const k = Math.min(MOST, Math.max(PAGE, visit().shown));
    const who = state.id ?? state.code;
    const [answer, item] = await Promise.all([
      fetchHits(state, 0, k, signal),
      state.id !== null ? api.item(state.id, signal) : null,
    ]);
    hits = answer.hits;
    if (asked !== who) query.replaceChildren(...about(answer, item, context, likely));
    asked = who;
    show(answer, state, k);
  }

  return { node, update };
}

function about(answer, item, { index, upload }, likely) {
  const { code } = answer.query;
  const given = upload(code);
  const strip = element("div", { class: "coded" },
    codeStrip(code, index.bits), element("code", { class: "hex" }, code));
  const named = (name, more) => element("div", { class: "named" }, element("h2", {}, name), more);
  if (item) {
    const large = link({ view: "item", id: item.id });
    return [element("a", { class: "picture", href: large }, photo(item, 320, { lazy: false })),
      named(fileName(item.file_name), tags(item.labels)), strip];
  }
  if (given) {
    const alt = `Your picture, ${given.name}`;
    const image = element("img", { src: given.url, alt, width: 1, height: 1 });
    const blank = element("span", { class: "blank" }, "No preview");
    image.addEventListener("error", () => image.replaceWith(blank));
    return [element("div", { class: "picture" }, image),
      named(given.name, tags(given.labels)), likely.show(given.likely), strip];
  }
  const note = element("p", { class: "help" }, "This link holds a picture’s code, not the picture.");
  return [named("A code", note), strip];
}

function nothing(state, index) {
  const labelled = state.labels.length + state.without.length > 0;
  const widen = button("Any distance", () => go({ ...now(), radius: null }), "primary");
  const clear = button("Clear labels", () => go({ ...now(), labels: [], without: [] }), "primary");
  if (state.radius !== null && labelled) {
    return empty(`Nothing with these labels within ${count(state.radius, "bit", "bits")}`,
      "Allow a larger distance, or ask for other labels.", widen, clear);
  }
  if (state.radius !== null) {
    return empty(`Nothing within ${count(state.radius, "bit", "bits")}`,
      "Allow a larger distance: move the slider to the right, or take away the limit.", widen);
  }
  if (labelled) {
    return empty("No picture has these labels", "Ask for fewer labels, or leave fewer out.", clear);
  }
  return index.items ? empty("Nothing found", "The index has no other picture.") : emptyIndex();
}

