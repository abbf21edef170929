// One picture large, over the page: arrow keys go to the next and the one before, Escape goes back.

import { original } from "./api.js";
import { copyText } from "./clipboard.js";
import { factList } from "./facts.js";
import { tags } from "./guesses.js";
import { button, count, element, fileName, photo } from "./parts.js";
import { choose, isChosen, select, selecting } from "./selection.js";
import { go, link, parse } from "./state.js";

const ALL = 12; // likely labels, as many as an index keeps

const part = (kind) => element("div", { class: kind });

export function viewer() {
  const stage = part("stage");
  const name = element("h2", { id: "viewed", tabindex: -1 });
  const about = part("facts-of");
  const status = element("p", { class: "help", role: "status" });
  const before = button("‹", () => step(-1), "step");
  const after = button("›", () => step(1), "step");
  const pick = button("Select", () => {
    if (!selecting()) select(true);
    choose(shown());
    mark();
  });
  const similar = element("a", { class: "button primary" }, "Find similar");
  const whole = element("a", { class: "button" }, "Details");
  const open = element("a", { class: "button", target: "_blank", rel: "noopener" }, "Open file");
  const save = element("a", { class: "button" }, "Download");
  const copy = button("Copy path", async () => {
    const done = await copyText(shown().file_name);
    status.textContent = done ? "Path copied" : "Copying is not allowed here";
  });
  const close = button("✕", () => dialog.close(), "step close");
  const names = [[before, "Previous picture"], [after, "Next picture"], [close, "Close"]];
  names.forEach(([node, text]) => node.setAttribute("aria-label", text));
  const dialog = element("dialog", { class: "viewer", "aria-labelledby": "viewed" },
    element("div", { class: "frame" }, stage, before, after, close),
    element("div", { class: "caption" }, name, about, status,
      element("div", { class: "ways" }, similar, open, save, copy, pick, whole)));
  let source = null;
  let id = null;
  let leaving = false; // for another state, whose entry takes the place of the large view's

  const place = () => source.items().findIndex((one) => one.id === id);
  const shown = () => source.items()[place()];
  const mark = () => pick.setAttribute("aria-pressed", isChosen(id));

  function show(item) {
    id = item.id;
    const total = source.items().length;
    stage.replaceChildren(photo(item, 1280, { lazy: false }));
    name.textContent = fileName(item.file_name);
    about.replaceChildren(...[source.words?.(item), tags(item, { most: ALL }), factList(item)]
      .filter(Boolean));
    about.querySelectorAll("a").forEach(leaves);
    status.textContent = `${place() + 1} of ${count(total, "picture", "pictures")} shown`;
    similar.href = link({ id });
    whole.href = link({ view: "item", id });
    for (const one of [open, save]) one.hidden = original(item) === null;
    open.href = save.href = original(item) ?? "";
    save.download = fileName(item.file_name);
    before.setAttribute("aria-disabled", place() === 0);
    after.setAttribute("aria-disabled", place() === total - 1 && !source.more);
    mark();
  }

  async function step(by) {
    const to = place() + by;
    const fetched = to >= source.items().length ? source.more?.() ?? null : null;
    await fetched;
    const next = source.items()[to];
    if (next && dialog.open) show(next);
    else if (fetched !== null) status.textContent = "No further picture came: try again";
  }

  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step(by);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside the picture
  });
  function leaves(anchor) {
    anchor.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      leaving = true;
      dialog.close();
      go(parse(anchor.getAttribute("href")), { replace: true });
    });
  }
  [similar, whole].forEach(leaves);
  dialog.addEventListener("close", () => {
    if (!leaving && history.state?.large) history.back();
    if (!leaving) source.focus(id);
    leaving = false;
  });
  addEventListener("popstate", () => { if (dialog.open) dialog.close(); });

  // `items()`: those shown now, in order; `more()`: fetches further ones; `focus(id)`: goes to one.
  function view(from, item) {
    source = from;
    show(item);
    history.pushState({ large: true }, "", location.hash); // so that Back closes it
    dialog.showModal();
    after.focus();
  }

  return { node: dialog, view };
}

// Have plain clicks on the pictures of a list open them large, or choose them while several are
// selected; other clicks follow the link.
export function opensLarge(list, view, source) {
  const focus = (id) => list.querySelector(`[data-id="${id}"] .picture`)?.focus();
  list.addEventListener("click", (event) => {
    const anchor = event.target.closest("a.picture");
    if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const id = Number(anchor.closest(".card").dataset.id);
    const item = source.items().find((one) => one.id === id);
    if (!item) return;
    event.preventDefault();
    if (selecting()) choose(item);
    else view({ focus, ...source }, item);
  });
}
