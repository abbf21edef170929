// Hits as a grid; those with identical codes are folded behind the first of them.

import { button, card, element } from "./parts.js";

export function groupByCode(hits) {
  const groups = new Map();
  for (const hit of hits) {
    if (!groups.has(hit.code)) groups.set(hit.code, []);
    groups.get(hit.code).push(hit);
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
    const [{ code }, ...rest] = group;
    const fold = button(`${rest.length} more with the same code`, () => {
      if (!opened.delete(code)) opened.add(code);
      fold.setAttribute("aria-expanded", String(opened.has(code)));
      rest.forEach((hit) => { cards.get(hit.id).hidden = !opened.has(code); });
    }, "fold");
    fold.setAttribute("aria-expanded", String(opened.has(code)));
    return fold;
  }

  // Cards that are there already stay, so that their pictures do not load again.
  function show(hits, look) {
    const key = JSON.stringify([look.code, look.wanted, look.keep, look.rescore]);
    if (key !== last) cards.clear();
    last = key;
    const ordered = groupByCode(hits).flatMap((group) => {
      const nodes = group.map((hit) => cardOf(hit, look));
      nodes[0].querySelector(".fold")?.remove();
      if (group.length > 1) nodes[0].querySelector(".actions").append(foldOf(group));
      nodes.forEach((node, i) => {
        node.hidden = i > 0 && !opened.has(group[0].code);
        node.classList.toggle("twin", i > 0);
      });
      return nodes;
    });
    list.replaceChildren(...ordered);
  }

  return { list, show };
}
