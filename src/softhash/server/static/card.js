// A picture in a grid; for a hit also how alike it is, or which words it was found by.

import { foundBy, tags } from "./guesses.js";
import { likeness } from "./likeness.js";
import { element, fileName, photo, SIGNS, unseen } from "./parts.js";
import { pickBox } from "./selection.js";
import { link } from "./state.js";
import { sureNote } from "./sure.js";

// How a hit answers a query: the paper's frames. "unknown" where the query's labels are not known.
export function judge(hit, wanted) {
  if (!wanted.length) return { frame: "unknown", shared: hit.shared ?? [], text: "" };
  const shared = hit.labels.filter((label) => wanted.includes(label));
  const frame = !shared.length ? "none" : shared.length === wanted.length ? "all" : "some";
  return { frame, shared, text: `${shared.length} of ${wanted.length}` };
}

export function card(item, { wanted = null, bits = 0, keep = {}, words = [] } = {}) {
  const hit = wanted !== null;
  const verdict = hit ? judge(item, wanted) : { frame: null, shared: [], text: "" };
  const similar = link({ ...keep, view: "search", id: item.id, code: null });
  return element("li", { class: "card", "data-frame": verdict.frame, "data-id": item.id },
    element("a", { class: "picture", href: link({ view: "item", id: item.id }) }, photo(item, 320)),
    pickBox(item),
    words.length ? foundBy(item, words) : hit ? measure(item, verdict, bits) : null,
    tags(item, { shared: verdict.shared, except: words }),
    element("div", { class: "actions" },
      element("a", { class: "action", href: similar },
        "Similar", unseen(` to ${fileName(item.file_name)}`))));
}

const measure = (hit, { frame, text }, bits) => element("p", { class: "measure" },
  element("span", { class: "alike" }, likeness(hit, bits)), sureNote(hit),
  text ? element("span", { class: "verdict" },
    element("span", { "aria-hidden": "true" }, `${SIGNS[frame]} `), `${text} shared`,
    unseen(" labels")) : null);

// What the frames mean, where the query's labels are known.
export function legend() {
  const meaning = { all: "has all labels of your picture", some: "some", none: "none" };
  return element("ul", { class: "legend", "aria-label": "What the frames mean" },
    Object.entries(meaning).map(([frame, text]) =>
      element("li", { "data-frame": frame },
        element("span", { class: "key", "aria-hidden": "true" }, SIGNS[frame]), text)));
}
