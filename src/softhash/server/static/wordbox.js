// Search by words: the box, and what to do about a word that is not known.

import { button, element, empty } from "./parts.js";
import { go, link, NOTHING, now } from "./state.js";
import { wordField } from "./words.js";

const EXAMPLES = 6;

// Whether an index has words at all: labels of its own, or those of its model.
export const hasWords = ({ words, labels, likely, classes }) =>
  Boolean(words) && [labels, likely, classes].some((names) => Object.keys(names ?? {}).length);

// Filters stay, except those of how alike a hit is.
const asked = (words) =>
  ({ ...now(), ...NOTHING, view: "search", radius: null, sure: null, words });

export function wordBox(id, placeholder) {
  const send = () => {
    field.close();
    const words = field.input.value.trim();
    if (words) go(asked(words));
    else field.input.focus();
  };
  const field = wordField({
    id, label: "What is in the pictures", placeholder, chosen: send,
  });
  const node = element("form", {
    class: "wordbox", role: "search", "aria-label": "By words",
    onsubmit: (event) => { event.preventDefault(); send(); },
  }, field.node, element("button", { class: "primary" }, "Search"));
  return { node, set: ({ words }) => { field.input.value = words; } };
}

// Words that many pictures have, but not nearly all of them.
export function examples({ items, labels, likely }) {
  const counts = { ...likely };
  for (const [word, given] of Object.entries(labels)) counts[word] = (counts[word] ?? 0) + given;
  const common = Object.entries(counts).filter(([, count]) => count < items / 3)
    .sort((a, b) => b[1] - a[1]).slice(0, EXAMPLES);
  if (!common.length) return null;
  return element("p", { class: "examples" }, "For example ", common.map(([word]) =>
    element("a", { class: "chip", href: link({ words: word }) }, word)));
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

// What a problem says of a word that is not known; null for other problems.
export function unknownWord({ status, detail = "", hint = "" }) {
  const word = status === 422 ? detail.match(/^unknown word '(.*)'$/s)?.[1] : undefined;
  if (word === undefined) return null;
  const guesses = hint.match(/^did you mean (.*?)\? /s)?.[1] ?? "";
  return { word, meant: [...guesses.matchAll(/'([^']+)'|"([^"]+)"/g)].map(([, a, b]) => a ?? b) };
}

// The state with another word in its place, wherever it was.
function instead(state, word, other) {
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}(?![\\p{L}\\p{N}])`, "iu");
  const swap = (text) => text.replace(whole, () => other);
  const [more, less] = [state.more.map(swap), state.less.map(swap)];
  return { ...state, words: swap(state.words), more, less };
}

export function notKnown({ word, meant }) {
  const ways = meant.map((other) =>
    button(other, () => go(instead(now(), word, other)), "primary"));
  const what = "Search with other words: those that are known appear while you type. Or train a " +
    "model on labels of your own, and index with it: softhash train.";
  return empty(`“${word}” is not a word that is known here`, what,
    ...(ways.length ? [element("span", {}, "Did you mean"), ...ways] : []));
}
