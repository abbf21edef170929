// Labels that the model finds likely: always with how probable, always apart from given ones.

import { element, unseen } from "./parts.js";

export const LIKELY = 0.5; // from here on the server's filters count a label
const SURE = 0.99; // above it a rounded percentage would read as certainty

export const percent = (probability) =>
  `${probability > SURE ? ">" : ""}${(100 * Math.min(probability, SURE)).toFixed(0)} %`;

// Sorted again: a script puts names that are numbers first, whatever the server's order.
export const ordered = (likely = {}) => Object.entries(likely).sort((a, b) => b[1] - a[1]);

export const guess = (label, probability) => element("li", {
  class: "maybe", title: `The model finds ${label} ${percent(probability)} likely`,
}, unseen("likely "), label, " ", element("span", { class: "count" }, percent(probability)));

// Given labels as they are, then the likely ones; nothing where there are none.
export function tags(item, { shared = [], most = 3, except = [], least = LIKELY } = {}) {
  const labels = item.labels.filter((label) => !except.includes(label))
    .sort((a, b) => shared.includes(b) - shared.includes(a));
  const likely = ordered(item.likely)
    .filter(([label, p]) => p >= least && !except.includes(label)).slice(0, most);
  if (!labels.length && !likely.length) return null;
  return element("ul", { class: "tags" },
    labels.map((label) => element("li", { class: shared.includes(label) ? "shared" : null }, label,
      shared.includes(label) ? unseen(" (shared)") : null)),
    likely.map(([label, p]) => guess(label, p)));
}

// Which of the words that were asked for a hit has: given, or how probable.
export function foundBy(hit, words) {
  const known = words.filter((word) => hit.labels.includes(word) || hit.likely?.[word]);
  return element("ul", { class: "tags by", "aria-label": "Found by" }, known.map((word) =>
    (hit.labels.includes(word) ? element("li", { class: "shared" }, word, unseen(" (a label)"))
      : guess(word, hit.likely[word]))));
}
