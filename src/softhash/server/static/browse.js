// Browse: all pictures, or those with the chosen labels.

import * as api from "./api.js";
import { labelChips } from "./filters.js";
import { button, card, count, element, empty } from "./parts.js";
import { emptyIndex } from "./search.js";
import { go, now, visit } from "./state.js";

const PAGE = 48;
const MOST = 480;

export function mount(main, { index, say, work }) {
  const chips = labelChips(index.labels, (part) => go({ ...now(), ...part }));
  const list = element("ul", { class: "grid" });
  const summary = element("p", { class: "summary" });
  const none = element("div");
  const more = button("More", () => page(), "more");
  let next = null;

  main.replaceChildren(element("section", { class: "browse" },
    element("div", { class: "head" }, element("h1", {}, "Browse"), summary),
    Object.keys(index.labels).length ? chips.node : null, list, none, more));

  const fetchItems = (state, after, limit, signal) =>
    api.items({ label: state.labels, not_label: state.without, after, limit }, signal);

  function add({ items, next: cursor }) {
    next = cursor;
    list.append(...items.map((item) => card(item)));
    more.hidden = next === null;
    const shown = list.children.length;
    visit().shown = shown;
    summary.textContent = shown ? (next === null
      ? `${count(shown, "picture", "pictures")}, all there are`
      : `The first ${shown.toLocaleString("en")}`) : "";
    say(`${count(shown, "picture", "pictures")} shown`);
  }

  const page = () => work(async (signal) => add(await fetchItems(now(), next, PAGE, signal)), page);

  return async (state, signal) => {
    chips.set(state);
    const limit = Math.min(MOST, Math.max(PAGE, visit().shown));
    const answer = await fetchItems(state, null, limit, signal);
    list.replaceChildren();
    add(answer);
    none.replaceChildren(...(answer.items.length ? [] : [nothing(index)]));
    return "Browse";
  };
}

function nothing(index) {
  if (!index.items) return emptyIndex();
  const clear = button("Clear labels", () => go({ ...now(), labels: [], without: [] }), "primary");
  return empty("No picture has these labels", "Ask for fewer labels, or leave fewer out.", clear);
}
