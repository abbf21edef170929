// What is searched for: a small picture with its name and labels; its code is behind the details.

import { legend } from "./card.js";
import { tags } from "./guesses.js";
import { codeStrip, element, fileName, photo } from "./parts.js";
import { link } from "./state.js";

const named = (name, ...more) =>
  element("div", { class: "named" }, element("h2", {}, name), more);

// `item` for a search by item; else the picture that was handed over, if still here; or words.
export function aboutQuery(item, given, words, likely) {
  if (item) {
    const large = link({ view: "item", id: item.id });
    return [element("a", { class: "picture", href: large }, photo(item, 320, { lazy: false })),
      named(fileName(item.file_name), tags(item, { most: 0 })), likely.show(item.likely)];
  }
  if (given) {
    const alt = `Your picture, ${given.name}`;
    const image = element("img", { src: given.url, alt, width: 1, height: 1 });
    const blank = element("span", { class: "blank" }, "No preview");
    image.addEventListener("error", () => image.replaceWith(blank));
    return [element("div", { class: "picture" }, image),
      named(given.name, tags(given, { most: 0 })), likely.show(given.likely)];
  }
  if (words) {
    return [element("p", { class: "help" },
      "Those that show the most of the words come first. Dashed: the model finds it likely.")];
  }
  return [named("A picture that is not here", element("p", { class: "help" },
    "This link can find pictures like it, but does not hold the picture itself."))];
}

let open = false; // whether the details are, also in the next search

// Code, time and frames; `toggled(open)` when the visitor opens or closes them.
export function details(bits, toggled) {
  const body = element("div", { class: "coded" });
  const node = element("details", { class: "panel details", open },
    element("summary", {}, "Details"), body);
  node.addEventListener("toggle", () => {
    open = node.open;
    toggled(open);
  });
  const set = ({ query, took_ms: took }, wanted) => {
    const time = took < 1 ? "under 1 ms" : `${Math.round(took)} ms`;
    body.replaceChildren(...[wanted.length ? legend() : null,
      element("p", { class: "help" },
        `The picture as ${bits} bits. Fewer bits differ where pictures are more alike. ` +
        `Searched in ${time}.`),
      codeStrip(query.code, bits), element("code", { class: "hex" }, query.code),
    ].filter(Boolean));
    toggled(open);
  };
  return { node, set };
}
