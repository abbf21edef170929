// One picture: large, with its labels and code, and what is nearest to it.

import * as api from "./api.js";
import { hitGrid } from "./grid.js";
import { codeStrip, element, empty, fileName, legend, photo } from "./parts.js";
import { link } from "./state.js";

const NEAR = 12;

export function mount(main, { index, say }) {
  return async (state, signal) => {
    const [item, near] = await Promise.all([
      api.item(state.id, signal), api.similar(state.id, { k: NEAR }, signal),
    ]);
    main.replaceChildren(large(item, index), similar(item, near, index));
    say(`${fileName(item.file_name)}, ${item.labels.join(", ") || "no labels"}`);
    return fileName(item.file_name);
  };
}

function large(item, index) {
  const labels = item.labels.map((label) => element("li", {},
    element("a", { class: "chip", href: link({ view: "browse", labels: [label] }) }, label)));
  return element("article", { class: "item" },
    element("div", { class: "picture large" }, photo(item, 1280, { lazy: false })),
    element("div", { class: "about" },
      element("h1", {}, fileName(item.file_name)),
      item.file_name.includes("/") ? element("p", { class: "help" }, item.file_name) : null,
      element("h2", {}, "Labels"),
      labels.length ? element("ul", { class: "chips" }, labels)
        : element("p", { class: "help" }, "This picture has no labels."),
      element("h2", {}, "Code"),
      codeStrip(item.code, index.bits), element("code", { class: "hex" }, item.code),
      element("a", { class: "button primary", href: link({ id: item.id }) },
        "Find similar pictures")));
}

function similar(item, answer, index) {
  const grid = hitGrid();
  grid.show(answer.hits, { wanted: item.labels, code: item.code, bits: index.bits });
  return element("section", { class: "similar" },
    element("div", { class: "head" },
      element("h2", {}, "Nearest pictures"), legend(item.labels.length > 0)),
    answer.hits.length ? grid.list
      : empty("Nothing else is here", "This is the only picture of the index."));
}
