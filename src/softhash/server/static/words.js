// A field for words: the last one is completed from those that the index has, as a combobox.

import * as api from "./api.js";
import { element } from "./parts.js";

const PAUSE = 120; // ms without a key before words are looked up
const OFFERED = 8;

const lastOf = (text, words) =>
  text.match(new RegExp(`(?:[^\\s",]+ ){0,${words - 1}}[^\\s",]+$`))?.[0];

// The text with its last word completed: as much of its end goes as the word begins with.
export function completed(text, word) {
  for (const words of [4, 3, 2]) {
    const end = lastOf(text, words);
    if (end && word.toLowerCase().startsWith(end.toLowerCase())) {
      return text.slice(0, text.length - end.length) + word;
    }
  }
  return text.replace(/[^\s",]*$/, "") + word;
}

// A word may be the second of a phrase, as in “traffic li”.
async function lookUp(text, signal) {
  const ends = new Set([lastOf(text, 2), lastOf(text, 1)].filter(Boolean));
  const found = await Promise.all(
    [...ends].map((prefix) => api.words({ prefix: prefix.slice(0, 200), limit: OFFERED }, signal)));
  const byName = new Map(found.flat().map((one) => [one.word, one]));
  return [...byName.values()].slice(0, OFFERED);
}

const counts = ({ given, likely }) => [given ? `${given.toLocaleString("en")} given` : "",
  likely ? `${likely.toLocaleString("en")} likely` : ""].filter(Boolean).join(", ");

// `chosen()` after a completion was taken over.
export function wordField({ id, label, placeholder, chosen }) {
  const list = element("ul",
    { id: `${id}-list`, role: "listbox", "aria-label": "Words", hidden: true });
  const input = element("input", {
    type: "search", id, class: "find", placeholder, maxlength: 500, role: "combobox",
    "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": list.id, autocomplete: "off", autocapitalize: "none", spellcheck: "false",
    enterkeyhint: "search",
  });
  let offered = [];
  let active = -1;
  let waiting = 0;
  let asking = null;

  function mark(place) {
    active = place;
    [...list.children].forEach((one, i) => one.setAttribute("aria-selected", i === place));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[place].id);
  }

  function show(words) {
    offered = words;
    list.replaceChildren(...words.map((one, i) => element("li", {
      id: `${id}-${i}`, role: "option", onclick: () => take(i),
    }, one.word, element("span", { class: "count" }, counts(one)))));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(words.length > 0));
    mark(-1);
  }

  function close() {
    clearTimeout(waiting);
    asking?.abort();
    show([]);
  }

  function take(place) {
    input.value = completed(input.value, offered[place].word);
    close();
    chosen?.();
  }

  async function offer() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const words = lastOf(input.value, 1) ? await lookUp(input.value, signal) : [];
      if (!signal.aborted && document.activeElement === input) show(words);
    } catch {
      show([]); // a help alone: one can type on without it
    }
  }

  function press(event) {
    if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Enter" && active >= 0) take(active);
    else if (event.key === "ArrowDown" && list.hidden) offer();
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      const places = offered.length + 1; // and the text as it was typed
      mark(((active + 1 + (event.key === "ArrowDown" ? 1 : -1) + places) % places) - 1);
    } else return;
    event.preventDefault();
  }

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(offer, PAUSE);
  });
  input.addEventListener("keydown", press);
  input.addEventListener("blur", close);
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays
  return { node: element("div", { class: "combo" }, input, list), input, close };
}
