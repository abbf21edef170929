// What was found: a grid of hits, with the query and filters beside.

import { activeFilters } from "./active.js";
import * as api from "./api.js";
import { filters } from "./filters.js";
import { hitGrid } from "./grid.js";
import { fill, offers, PAGE } from "./hits.js";
import { distanceOf } from "./likeness.js";
import { likelyLabels } from "./likely.js";
import { nothing } from "./nothing.js";
import { button, count, element } from "./parts.js";
import { aboutQuery, details } from "./query.js";
import { selectButton } from "./selection.js";
import { go, now, OPEN, visit } from "./state.js";
import { tuned, tuning } from "./tuning.js";
import { asksForFacts, asksForLabels } from "./wanted.js";
import { hasWords, notKnown, unknownWord, wordBox } from "./wordbox.js";

const MOST = 960; // how many are fetched at once when one comes back to a long list

// The query's own file is the first hit, wherever the ranking has it.
function ownFirst(hits, own, state, { code }, bits) {
  if (!own) return hits;
  const place = hits.findIndex(({ id }) => id === own.id);
  if (place < 0 && (asksForLabels(state) || asksForFacts(state))) return hits; // it may not fit
  const itself = hits[place] ?? { ...own, shared: [], distance: distanceOf(own.code, code, bits) };
  return [{ ...itself, own: true }, ...hits.filter(({ id }) => id !== own.id)];
}

// The filters of a state, for the searches that its hits lead to; an item has no outputs.
const kept = (state, index) => ({
  ...Object.fromEntries(Object.keys(OPEN).map((name) => [name, state[name]])),
  rescore: state.rescore && Boolean(index.features),
});

export function foundPart(context) {
  const { index, pick, say } = context;
  const worded = hasWords(index);
  const box = wordBox("words-again", "Or by words: dog beach");
  const query = element("div", { class: "query" });
  const change = (part, replace) => go({ ...now(), ...part }, { replace });
  const known = (label) =>
    [index.labels, index.likely ?? {}].some((counts) => Object.hasOwn(counts, label));
  const likely = likelyLabels(known, (part) => change(part, false));
  const narrow = filters(index, change);
  const active = activeFilters(index.bits);
  const tune = tuning();
  const chosen = tuned();
  const more = button("More", () => page(), "more");
  more.hidden = true; // until there is something to go on from
  const grid = hitGrid({ view: context.view, more: () => (more.hidden ? null : page()) });
  const technical = details(index.bits, grid.detail);
  const heading = element("h1", {}, "Similar pictures");
  const summary = element("p", { class: "summary" });
  const none = element("div");
  let hits = [];
  let of = null; // the state that they are of; a newer one may have failed
  let asked = null;

  const node = element("section", { class: "found", hidden: true },
    worded ? box.node : null,
    element("aside", { class: "side", "aria-label": "Query and filters" }, query,
      element("div", { class: "tools" },
        index.encodes === false ? null : button("By picture", pick),
        worded ? tune.node : null, narrow.node, technical.node)),
    element("div", { class: "hits" },
      element("div", { class: "head" }, heading, summary, selectButton()), active.node,
      chosen.node, grid.list, none, more));

  function show({ answer, found, ended }, state, cards) {
    hits = found;
    of = state;
    narrowed(state);
    const given = state.words ? undefined : context.upload(answer.query.code);
    const wanted = state.words ? [] : given?.labels ?? answer.query.labels ?? [];
    grid.show(ownFirst(hits, given?.own, state, answer.query, index.bits), {
      wanted, code: answer.query.code || null, bits: index.bits, words: answer.query.words ?? [],
      tuned: [state.rescore, state.more, state.less], keep: kept(state, index),
    }, cards);
    more.hidden = ended;
    none.replaceChildren(...(hits.length ? [] : [nothing(state, index)]));
    tell(state, answer);
    if (!state.words) technical.set(answer, wanted);
    visit().shown = hits.length;
  }

  // What narrows the hits that are shown.
  function narrowed(state) {
    const kept = state.code !== null && context.keptFor === state.code;
    active.set(state, kept, offers(state, context).sure);
    chosen.set(state, !state.words);
  }

  function tell(state, { query: { words = [] } }) {
    const shown = count(hits.length, "picture", "pictures");
    const best = state.words || state.more.length + state.less.length;
    heading.textContent = state.words ? `Pictures of ${words.join(", ")}` : "Similar pictures";
    const order = hits.length > 1 ? `, the ${best ? "best" : "most alike"} first` : "";
    summary.textContent = hits.length ? `${shown}${order}` : "";
    const filtered = active.node.hidden ? "" : ", filters apply";
    say(hits.length ? `${shown} found${filtered}` : "Nothing found");
  }

  // A word that is not known is no failure: there is something to do about it.
  function refuse(problem, state) {
    const word = unknownWord(problem);
    if (word === null) throw problem;
    hits = [];
    narrowed(state);
    grid.show([], {});
    more.hidden = true;
    heading.textContent = "A word is not known";
    summary.textContent = "";
    none.replaceChildren(notKnown(word));
    say(`${word.word} is not a word that is known here`);
  }

  async function page() {
    const state = of;
    const cards = grid.list.querySelectorAll(".card:not([hidden])").length + PAGE;
    await context.more(async (signal) => {
      show(await fill(state, context, { found: hits, cards }, signal), state, cards);
    }, page);
  }

  function set(state) {
    const offered = offers(state, context);
    box.set(state);
    likely.set(state);
    narrow.set(state, offered);
    narrow.offer().catch(() => {}); // without them one can search all the same
    tune.node.hidden = technical.node.hidden = Boolean(state.words);
    node.dataset.by = state.words ? "words" : "picture";
  }

  async function update(state, signal) {
    set(state);
    const first = Math.min(MOST, Math.max(PAGE, visit().shown));
    const who = state.words || (state.id ?? state.code);
    const [filled, item] = await Promise.all([
      fill(state, context, { first }, signal).catch((problem) => refuse(problem, state)),
      state.id !== null ? api.item(state.id, signal) : null,
    ]);
    const given = context.upload(state.code);
    if (asked !== who) query.replaceChildren(...aboutQuery(item, given, state.words, likely));
    asked = who;
    if (filled) show(filled, state, PAGE);
  }

  return { node, update };
}
