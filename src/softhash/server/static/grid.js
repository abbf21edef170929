// Hits as a grid; those that the ranking cannot tell apart are folded behind the first of them.

import { button, card, element } from "./parts.js";

// Features tell pictures with one code apart: these keep their places.
const keyOf = ({ code, rescored = null }) => `${code} ${rescored}`;

export function groupTies(hits) {
  const groups = new Map();
  for (const hit of hits) {
    const key = keyOf(hit);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(hit);
  }
  return [...groups.values()];
}

export function hitGrid() {
  const list = element("ul", { class: "grid" });
  const cards = new Map();
  const opened = new Set();
  let last = "";

  function cardOf(hit, look) {
    if (!cards.has(hit.id)) cards.set(hit.id, card(hit, look));
    return cards.get(hit.id);
  }

  function foldOf(group) {
    const [first, ...rest] = group;
    const key = keyOf(first);
    const fold = button(`${rest.length} more with the same code`, () => {
      if (!opened.delete(key)) opened.add(key);
      fold.setAttribute("aria-expanded", String(opened.has(key)));
      rest.forEach((hit) => { cards.get(hit.id).hidden = !opened.has(key); });
    }, "fold");
    fold.setAttribute("aria-expanded", String(opened.has(key)));
    return fold;
  }

  // Cards that are there already stay, so that their pictures do not load again.
  function show(hits, look) {
    const key = JSON.stringify([look.code, look.wanted, look.keep, look.rescore]);
    if (key !== last) cards.clear();
    last = key;
    const ordered = groupTies(hits).flatMap((group) => {
      const nodes = group.map((hit) => cardOf(hit, look));
      nodes[0].querySelector(".fold")?.remove();
      if (group.length > 1) nodes[0].querySelector(".actions").append(foldOf(group));
      nodes.forEach((node, i) => {
        node.hidden = i > 0 && !opened.has(keyOf(group[0]));
        node.classList.toggle("twin", i > 0);
      });
      return nodes;
    });
    list.replaceChildren(...ordered);
  }

  return { list, show };
}
