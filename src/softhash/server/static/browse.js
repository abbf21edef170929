// Browse: all pictures, or those of a folder, or with the chosen labels; more come while scrolling.

import * as api from "./api.js";
import { card } from "./card.js";
import { labelChips } from "./labels.js";
import { button, count, element, empty } from "./parts.js";
import { emptyIndex } from "./search.js";
import { selectButton } from "./selection.js";
import { go, now, visit } from "./state.js";
import { opensLarge } from "./viewer.js";
import { asksForLabels, parameters } from "./wanted.js";

const PAGE = 48;
const MOST = 480;
const AHEAD = "800px"; // below the screen, where the next page is fetched

function folderChoice() {
  const chosen = () => (choice.value === "" ? null : choice.value.slice(1));
  const choice = element("select", {
    id: "folder", onchange: () => go({ ...now(), folder: chosen() }),
  });
  const node = element("p", { class: "folder", hidden: true },
    element("label", { for: "folder" }, "Folder"), choice);
  // A value begins with a sign, since the name of the outermost folder is empty.
  const offer = (folders) => {
    choice.replaceChildren(element("option", { value: "" }, "All folders"),
      ...folders.map(({ name, items }) => element("option", { value: `/${name}` },
        `${name || "(not in a folder)"} (${items.toLocaleString("en")})`)));
    node.hidden = folders.length < 2;
  };
  const set = ({ folder }) => { choice.value = folder === null ? "" : `/${folder}`; };
  return { node, offer, set };
}

export function mount(main, { index, say, work, view }) {
  const chips = labelChips(index.labels, (part) => go({ ...now(), ...part }));
  const folder = folderChoice();
  const list = element("ul", { class: "grid" });
  const summary = element("p", { class: "summary" });
  const none = element("div");
  const more = button("More", () => page(), "more");
  const seen = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) page(); },
    { rootMargin: `0px 0px ${AHEAD}` });
  let next = null;
  let offered = false; // folders are
  let items = [];

  main.replaceChildren(element("section", { class: "browse" },
    element("div", { class: "head" }, element("h1", {}, "Browse"), summary, selectButton()),
    folder.node,
    Object.keys(index.labels).length
      ? element("details", { class: "panel" }, element("summary", {}, "Labels"), chips.node) : null,
    list, none, more));
  opensLarge(list, view, { items: () => items, more: () => (next === null ? null : page()) });

  const fetchItems = (state, after, limit, signal) =>
    api.items({ ...parameters(state), folder: state.folder, after, limit }, signal);

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

  const page = () => work(async (signal) => {
    seen.unobserve(more);
    add(await fetchItems(now(), next, PAGE, signal));
  }, page);

  return async (state, signal) => {
    seen.unobserve(more);
    chips.set(state);
    if (asksForLabels(state)) chips.node.parentElement.open = true;
    const limit = Math.min(MOST, Math.max(PAGE, visit().shown));
    const [answer, known] = await Promise.all([
      fetchItems(state, null, limit, signal), offered ? null : api.folders(signal),
    ]);
    if (known) folder.offer(known.folders);
    offered = true;
    folder.set(state);
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
  return empty("No picture is like that", "Ask for fewer labels, or for another folder.", clear);
}
