// Before a search: words, a picture of one's own, or one of the index.

import * as api from "./api.js";
import { tags } from "./guesses.js";
import { button, count, element, empty, photo } from "./parts.js";
import { link } from "./state.js";
import { examples, hasWords, wordBox } from "./wordbox.js";

export function startPart({ index, pick }) {
  const samples = element("ul", { class: "grid samples" });
  const encodes = index.encodes !== false; // an index of codes alone has no model for pictures
  const worded = hasWords(index);
  const box = wordBox("words", "such as dog beach");
  const invitation = encodes || worded ? "Or start from one of these" : "Start from one of these";
  const offered = element("section", { hidden: true }, element("h2", {}, invitation), samples);
  const node = element("section", { class: "start", hidden: true },
    element("h1", {}, "Find pictures by what is in them"),
    worded ? element("div", { class: "by-words" }, box.node, examples(index)) : null,
    encodes ? dropzone(index, pick, worded) : null, offered);
  const update = async (signal) => {
    box.set({ words: "" });
    if (samples.children.length || !index.items) return;
    const { items } = await api.items({ limit: 12 }, signal);
    samples.replaceChildren(...items.map(sample));
    offered.hidden = !items.length;
  };
  return { node: index.items ? node : emptyIndex(), update };
}

const dropzone = (index, pick, worded) => element("div", { class: "dropzone" },
  element("p", { class: "by-hand" },
    `${worded ? "Or drop" : "Drop"} a picture anywhere on this page, paste one, or`),
  button("Choose a picture", pick, worded ? "" : "primary"),
  element("p", { class: "help" },
    `The most alike of ${count(index.items, "picture", "pictures")} are shown. ` +
    "Your picture is not kept."));

// Unlike a card of the grid, it leads to a search at once.
const sample = (item) => element("li", { class: "card" },
  element("a", { class: "picture", href: link({ id: item.id }) }, photo(item, 320)),
  tags(item));

export const emptyIndex = () => empty("This index is empty",
  "Add pictures in a terminal, then load this page again:",
  element("code", {}, "softhash index PICTURES -o INDEX"));
