// Browse: all pictures, or those of a folder, or with the chosen labels; more come while scrolling.

import { activeFilters } from "./active.js";
import * as api from "./api.js";
import { card } from "./card.js";
import { hasLabels } from "./filters.js";
import { labelChips } from "./labels.js";
import { button, count, element, empty } from "./parts.js";
import { photoFilters } from "./photofilters.js";
import { selectButton } from "./selection.js";
import { emptyIndex } from "./start.js";
import { go, now, visit } from "./state.js";
import { opensLarge } from "./viewer.js";
import { parameters } from "./wanted.js";

const PAGE = 48;
const MOST = 480;
const AHEAD = "800px"; // below the screen, where the next page is fetched

export function mount(main, { index, say, more: workIfIdle, view }) {
  const change = (part, replace = false) => go({ ...now(), ...part }, { replace });
  const chips = labelChips(index, (part) => change(part));
  const photos = photoFilters(change, { outermost: true });
  const list = element("ul", { class: "grid" });
  const summary = element("p", { class: "summary" });
  const none = element("div");
  const more = button("More", () => page(), "more");
  more.hidden = true; // until there is something to go on from
  const seen = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) page(); },
    { rootMargin: `0px 0px ${AHEAD}` });
  const active = activeFilters(index.bits);
  const labelled = hasLabels(index);
  const panel = element("details", { class: "panel filters", hidden: !labelled },
    element("summary", {}, "Filters"), photos.node,
    labelled ? [element("h2", {}, "Labels"), chips.node] : []);
  let next = null;
  let items = [];
  let of = null; // the state that they are of; a newer one may have failed

  main.replaceChildren(element("section", { class: "browse" },
    element("div", { class: "head" }, element("h1", {}, "Browse"), summary, selectButton()),
    element("div", { class: "narrow" }, photos.folder, panel), active.node,
    list, none, more));
  opensLarge(list, view, { items: () => items, more: () => (next === null ? null : page()) });

  const fetchItems = (state, after, limit, signal) =>
    api.items({ ...parameters(state), after, limit }, signal);

  function add(answer) {
    next = answer.next;
    items = [...items, ...answer.items];
    list.append(...answer.items.map((item) => card(item)));
    visit().shown = items.length;
    summary.textContent = shownOf(items.length, next, answer.total);
    say(`${count(items.length, "picture", "pictures")} shown`);
    more.hidden = next === null;
    seen.unobserve(more); // it tells only of changes: a page may not have filled the screen
    if (next !== null) seen.observe(more);
  }

  const page = () => workIfIdle(async (signal) => {
    seen.unobserve(more);
    add(await fetchItems(of, next, PAGE, signal));
  }, page);

  return async (state, signal) => {
    seen.unobserve(more);
    chips.set(state);
    photos.set(state);
    const { shown } = visit(); // as many as there were, when one comes back to a long list
    const [answer, dated] = await Promise.all([
      fetchItems(state, null, Math.min(MOST, Math.max(PAGE, shown)), signal),
      photos.offer().catch(() => false), // without them one can browse all the same
    ]);
    while (answer.next !== null && answer.items.length < shown) {
      const further = await fetchItems(state, answer.next, MOST, signal);
      answer.items.push(...further.items);
      answer.next = further.next;
    }
    of = state;
    active.set(state, false);
    panel.hidden = !labelled && !dated;
    list.replaceChildren();
    items = [];
    add(answer);
    none.replaceChildren(...(answer.items.length || next !== null ? [] : [nothing(index)]));
    return "Browse";
  };
}

function shownOf(shown, next, all) {
  if (!shown) return "";
  if (next === null) return `${count(shown, "picture", "pictures")}, all shown`;
  return all === null ? `The first ${shown.toLocaleString("en")}`
    : `${shown.toLocaleString("en")} of ${count(all, "picture", "pictures")}`;
}

function nothing(index) {
  if (!index.items) return emptyIndex();
  const clear = button("Show everything", () => go({ view: "browse" }), "primary");
  return empty("No picture is like that",
    "Ask for fewer labels, for another folder or more time.", clear);
}
