// Hits as a grid; those that the ranking cannot tell apart are folded behind the first of them.

import { card } from "./card.js";
import { foundBy } from "./guesses.js";
import { alikeWords, workings } from "./likeness.js";
import { button, element } from "./parts.js";
import { opensLarge } from "./viewer.js";

// Features and words tell pictures with one code apart: these keep their places, as the query's
// own does.
const keyOf = ({ id, distance, code, rescored = null, score = null, own = false }) =>
  (distance === null ? String(id) : `${code} ${rescored} ${score} ${own}`);

export function groupTies(hits) {
  const groups = new Map();
  for (const hit of hits) {
    const key = keyOf(hit);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(hit);
  }
  return [...groups.values()];
}

// How many of each group show: one, and where that leaves fewer cards than `least`, more.
function quotas(groups, least) {
  let gap = least - groups.length;
  return groups.map((group) => {
    const extra = Math.max(0, Math.min(group.length - 1, gap));
    gap -= extra;
    return 1 + extra;
  });
}

// `view(source, item)` shows one large; `more()` fetches further hits.
export function hitGrid({ view, more = null }) {
  const list = element("ul", { class: "grid" });
  const cards = new Map();
  const opened = new Set(); // groups that the visitor unfolded
  let shown = []; // hits in the order of the cards
  let look = {};
  let last = "";
  let detailed = false;

  const items = () => shown.filter(({ id }) => !cards.get(id).hidden);
  const words = (hit) => (look.words?.length ? foundBy(hit, look.words)
    : element("p", { class: "alike" }, alikeWords(hit, look.bits)));
  opensLarge(list, view, { items, words, more });

  function cardOf(hit) {
    if (!cards.has(hit.id)) {
      cards.set(hit.id, card(hit, look));
      explain(hit);
    }
    return cards.get(hit.id);
  }

  function explain(hit) {
    const node = cards.get(hit.id);
    node.querySelector(".workings")?.remove();
    if (detailed) node.querySelector(".measure")?.after(workings(hit, look));
  }

  function foldOf(key, rest) {
    const fold = button(`${rest.length} more as alike as this`, () => {
      if (!opened.delete(key)) opened.add(key);
      fold.setAttribute("aria-expanded", String(opened.has(key)));
      rest.forEach((hit) => { cards.get(hit.id).hidden = !opened.has(key); });
    }, "fold");
    fold.setAttribute("aria-expanded", String(opened.has(key)));
    return fold;
  }

  function place(group, quota) {
    const key = keyOf(group[0]);
    const nodes = group.map(cardOf);
    nodes.forEach((node, i) => {
      node.querySelector(".fold")?.remove();
      node.hidden = i >= quota && !opened.has(key);
      node.classList.toggle("twin", i >= quota);
    });
    const rest = group.slice(quota);
    if (rest.length) nodes[quota - 1].querySelector(".actions").append(foldOf(key, rest));
    return nodes;
  }

  // Cards that are there already stay, so that their pictures do not load again.
  function show(hits, given, least = 0) {
    look = given;
    const key = JSON.stringify([look.code, look.words, look.wanted, look.keep, look.tuned]);
    if (key !== last) [cards, opened].forEach((kept) => kept.clear());
    last = key;
    const groups = groupTies(hits);
    const shows = quotas(groups, least);
    shown = groups.flat();
    list.replaceChildren(...groups.flatMap((group, i) => place(group, shows[i])));
  }

  // Show or hide distances and bits on every card.
  function detail(on) {
    detailed = on;
    shown.forEach(explain);
  }

  return { list, show, detail };
}
