// One picture: large, with its labels, its file and its code, and what is like it.

import * as api from "./api.js";
import { legend } from "./card.js";
import { copyText } from "./clipboard.js";
import { factList } from "./facts.js";
import { hitGrid } from "./grid.js";
import { ordered, percent } from "./guesses.js";
import { button, codeStrip, element, empty, fileName, photo } from "./parts.js";
import { link } from "./state.js";

const NEAR = 12;

export function mount(main, { index, say, view }) {
  return async (state, signal) => {
    const [item, near] = await Promise.all([
      api.item(state.id, signal), api.similar(state.id, { k: NEAR }, signal),
    ]);
    main.replaceChildren(large(item, index, say), similar(item, near, index, view));
    say(`${fileName(item.file_name)}, ${item.labels.join(", ") || "no labels"}`);
    return fileName(item.file_name);
  };
}

function large(item, index, say) {
  const labels = item.labels.map((label) => element("li", {},
    element("a", { class: "chip", href: link({ view: "browse", labels: [label] }) }, label)));
  const likely = ordered(item.likely).map(([label, p]) => element("li", {},
    element("a", { class: "chip maybe", href: link({ words: label }) }, label,
      element("span", { class: "count" }, percent(p)))));
  return element("article", { class: "item" },
    element("div", { class: "picture large" }, photo(item, 1280, { lazy: false })),
    element("div", { class: "about" },
      element("h1", {}, fileName(item.file_name)),
      element("h2", {}, "Labels"),
      labels.length ? element("ul", { class: "chips" }, labels)
        : element("p", { class: "help" }, "Nobody has given this picture labels."),
      likely.length ? [element("h2", {}, "Looks like"), element("ul", { class: "chips" }, likely)]
        : [],
      factList(item),
      element("div", { class: "ways" },
        element("a", { class: "button primary", href: link({ id: item.id }) },
          "Find similar pictures"), fileWays(item, say)),
      element("details", { class: "panel code" }, element("summary", {}, "Code"),
        codeStrip(item.code, index.bits), element("code", { class: "hex" }, item.code))));
}

function fileWays(item, say) {
  const copy = button("Copy path", async () => {
    const done = await copyText(item.file_name);
    copy.textContent = done ? "Path copied" : "Copying is not allowed here";
    say(copy.textContent);
  });
  const href = api.original(item);
  if (href === null) return copy;
  const save = { class: "button", href, download: fileName(item.file_name) };
  return [element("a", { class: "button", href, target: "_blank", rel: "noopener" }, "Open file"),
    element("a", save, "Download"), copy];
}

function similar(item, answer, index, view) {
  const grid = hitGrid({ view });
  grid.show(answer.hits, { wanted: item.labels, code: item.code, bits: index.bits }, NEAR);
  return element("section", { class: "similar" },
    element("div", { class: "head" },
      element("h2", {}, "Similar pictures"), item.labels.length ? legend() : null),
    answer.hits.length ? grid.list
      : empty("Nothing else is here", "This is the only picture of the index."));
}
