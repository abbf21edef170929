// Puts the page together: one view at a time, its state in the address, one place for errors.

import * as api from "./api.js";
import * as browse from "./browse.js";
import * as item from "./item.js";
import { button, count, element } from "./parts.js";
import * as quality from "./quality.js";
import { contentOf, scaledDown } from "./scaling.js";
import * as search from "./search.js";
import { bar } from "./selection.js";
import { go, NOTHING, now, OPEN, quietly, setFailed, visit, watch } from "./state.js";
import { isPicture, listen, remember, uploaded } from "./uploads.js";
import { viewer } from "./viewer.js";
import { inWords } from "./wanted.js";

const VIEWS = { search, item, browse, quality };
const SOON = 150; // ms before work is worth a sign; most answers come sooner

const at = (id) => document.getElementById(id);
const say = (text) => { at("status").textContent = text; };

let running = null;

function fail(problem, again) {
  const { title = "This page made a mistake", message, detail = message, hint } = problem;
  const lines = [detail, hint].filter(Boolean).map((line) => element("p", {}, line));
  at("notice").replaceChildren(element("div", {}, element("strong", {}, title), lines),
    element("div", { class: "ways" }, problem.passes ? button("Try again", again) : null,
      button("Dismiss", () => { at("notice").hidden = true; }, "plain")));
  at("notice").hidden = false;
}

// Run a task whose requests end when a newer one begins; errors show, and what was there stays.
// Return whether it came to its end.
async function work(task, again) {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const sign = setTimeout(() => { at("progress").hidden = false; }, SOON);
  at("main").setAttribute("aria-busy", "true");
  try {
    await task(mine.signal);
    if (running === mine) at("notice").hidden = true;
    return true;
  } catch (problem) {
    if (running === mine && problem.name !== "AbortError") fail(problem, again);
    return false;
  } finally {
    clearTimeout(sign);
    if (running === mine) {
      running = null;
      at("progress").hidden = true;
      at("main").removeAttribute("aria-busy");
    }
  }
}

// Further pictures of a list wait for nothing: while something else is asked for, they do not count.
const workIfIdle = async (task, again) => (running === null ? work(task, again) : false);

async function take(file, context) {
  document.querySelector("dialog[open]")?.close(); // what comes is behind it
  if (!isPicture(file)) {
    const title = `${file.name || "This"} is not a picture`;
    fail({ title, hint: "Give a photograph, such as a JPEG, PNG, WebP or HEIC file." });
    return;
  }
  say("Reading the picture");
  await work(async (signal) => {
    const [sent, own] = await Promise.all([scaledDown(file), ownItem(file, signal)]);
    const { query } = await api.search({ image: sent, k: 1 }, signal);
    remember(query, { file, sent, own });
    const kept = now().view === "search" ? now() : OPEN;
    const limited = kept.radius !== null || kept.sure !== null;
    context.keptFor = limited || inWords(kept).length ? query.code : null;
    const { rescore = false } = kept;
    context.refresh({ ...kept, ...NOTHING, rescore, view: "search", code: query.code });
  }, () => take(file, context));
}

// The item whose file this is: what is sent may be smaller, and so have another content.
async function ownItem(file, signal) {
  const content = await contentOf(file);
  return content && api.itemOf(content, signal);
}

function follow(context) {
  let shown = null;
  let update = null;

  const show = async (state, back) => {
    const address = location.hash;
    const done = await work((signal) => change(state, back, signal), () => show(state, back));
    if (location.hash === address) setFailed(!done);
  };

  async function change(state, back, signal) {
    const { y } = visit();
    const { view } = state;
    const focused = at("main").contains(document.activeElement);
    mark(view);
    if (shown !== view) {
      quietly(() => at("main").replaceChildren());
      update = VIEWS[view].mount(at("main"), context);
      shown = view;
    }
    const same = context.last === subject(state);
    const title = await update(state, signal);
    context.last = subject(state);
    document.title = `${title} · softhash`;
    if (back) scrollTo(0, y);
    else if (!same) scrollTo(0, 0);
    const { body, activeElement } = document;
    const lost = focused && (activeElement === body || !activeElement.checkVisibility());
    if (context.moved && (!same || lost)) at("main").focus({ preventScroll: true });
    context.moved = true;
  }

  context.refresh = (state) => {
    shown = null; // a picture of a code that is shown already may have come
    if (go(state) === false) show(now(), false);
  };
  watch(show);
}

// What a state is about: filters may change without the page jumping to its top.
const subject = ({ view, id, code, words }) => [view, id, code, words].join();

function mark(view) {
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.dataset.view === view) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

async function begin() {
  let index;
  await work(async () => { index = await api.index(); }, begin);
  if (!index) return;
  at("facts").textContent = count(index.items, "picture", "pictures");
  const large = viewer();
  at("main").before(bar); // so that the keyboard comes to it before all pictures
  document.body.append(large.node);
  const pick = () => at("picture").click();
  const context = {
    index, say, pick, more: workIfIdle, upload: uploaded, view: large.view, keptFor: null,
  };
  listen(at("picture"), at("drop"), (file) => take(file, context));
  follow(context);
}

at("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is the page's state
  const pictures = [...at("main").querySelectorAll(".grid .picture")];
  (pictures.find((one) => one.checkVisibility()) ?? at("main")).focus();
});
begin();
