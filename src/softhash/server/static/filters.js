// Radius and labels: what narrows a search; and its finer order. All keep focus as results change.

import { button, element } from "./parts.js";

const PAUSE = 150; // ms without a move of the slider before a search
const MANY = 24; // labels that are offered before one has to type

const MEANING = { off: "", with: ", asked for", without: ", left out" };
const SIGN = { off: "", with: "+", without: "−" };

function stateOf(label, { labels, without }) {
  return labels.includes(label) ? "with" : without.includes(label) ? "without" : "off";
}

// The next of a chip's three states: off → with → without → off.
function turned(label, state) {
  const was = stateOf(label, state);
  const labels = state.labels.filter((one) => one !== label);
  const without = state.without.filter((one) => one !== label);
  if (was === "off") labels.push(label);
  if (was === "with") without.push(label);
  return { labels, without };
}

// `note` stands behind the label, `said` is what is read out in its place.
export function labelChip(label, { note, said }, changed) {
  let state = { labels: [], without: [] };
  const onclick = () => changed(turned(label, state));
  const sign = element("span", { class: "sign", "aria-hidden": "true" });
  const node = element("button", { type: "button", class: "chip", "data-label": label, onclick },
    sign, element("span", { class: "name" }, label),
    element("span", { class: "count" }, note));
  const set = (next) => {
    state = next;
    const is = stateOf(label, state);
    node.dataset.state = is;
    sign.textContent = SIGN[is];
    node.setAttribute("aria-pressed", { off: "false", with: "true", without: "mixed" }[is]);
    node.setAttribute("aria-label", `${label}, ${said}${MEANING[is]}`);
  };
  return { node, label, set };
}

export function labelChips(counts, changed) {
  let state = { labels: [], without: [] };
  const byCount = Object.entries(counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const chips = byCount.map(([label, items]) => labelChip(label,
    { note: items.toLocaleString("en"), said: `${items} pictures` }, changed));
  const list = element("div", { class: "chips", role: "group", "aria-label": "Labels" },
    chips.map(({ node }) => node));
  const wanted = element("input", {
    type: "search", class: "find", placeholder: `Find one of ${chips.length} labels`,
    "aria-label": "Find a label", oninput: () => offer(),
  });
  const clear = button("Clear labels", () => changed({ labels: [], without: [] }), "plain");

  function offer() {
    const text = wanted.value.trim().toLowerCase();
    let left = MANY;
    for (const { node, label } of chips) {
      const fits = label.toLowerCase().includes(text) && left > 0;
      node.hidden = !fits && stateOf(label, state) === "off";
      left -= fits ? 1 : 0;
    }
  }

  function set(next) {
    state = next;
    chips.forEach((one) => one.set(state));
    clear.hidden = !state.labels.length && !state.without.length;
    if (chips.length > MANY) offer();
  }

  const help = element("p", { class: "help" },
    "Press once for pictures with any of the chosen labels, twice to leave them out.");
  const node = element("div", { class: "labels" },
    chips.length > MANY ? wanted : null, list, help, clear);
  return { node, set };
}

function radiusSlider(bits, changed) {
  const output = element("output", { for: "radius" });
  const slider = element("input", { type: "range", id: "radius", min: 0, max: bits, step: 1 });
  let waiting = 0;
  const tell = () => {
    const any = Number(slider.value) >= bits;
    output.textContent = any ? "any" : `≤ ${slider.value}`;
    slider.setAttribute("aria-valuetext", any ? "any distance" : `at most ${slider.value} bits`);
  };
  slider.addEventListener("input", () => {
    tell();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const value = Number(slider.value);
      changed({ radius: value >= bits ? null : value });
    }, PAUSE);
  });
  const set = ({ radius }) => {
    clearTimeout(waiting);
    slider.value = radius ?? bits;
    tell();
  };
  const node = element("div", { class: "radius" },
    element("label", { for: "radius" }, "Distance"), output, slider);
  return { node, set };
}

// By features where the index keeps them; else for a picture alone, whose real-valued outputs show
// how sure each bit is.
const finer = (features) => (features
  ? "The nearest are ranked again by features, which the index keeps beside the codes."
  : "Bits that the model is sure of count more: the nearest are ranked again.");

function rescoreBox(features, changed) {
  const box = element("input", { type: "checkbox", id: "rescore", "aria-describedby": "finer" });
  box.addEventListener("change", () => changed({ rescore: box.checked }));
  const node = element("div", { class: "rescore" },
    box, element("label", { for: "rescore" }, "Finer order"),
    element("p", { class: "help", id: "finer" }, finer(features)));
  const set = ({ rescore }, offered) => {
    box.checked = rescore;
    node.hidden = !offered;
  };
  return { node, set };
}

// `changed(part, replace)`: part of a state; a slider's steps replace one another in the history.
export function filters(index, changed) {
  const radius = radiusSlider(index.bits, (part) => changed(part, true));
  const rescore = rescoreBox(index.features, (part) => changed(part, false));
  const labels = labelChips(index.labels, (part) => changed(part, false));
  const wide = matchMedia("(min-width: 56rem)").matches;
  const summary = element("summary", {}, "Filters");
  const node = element("details", { class: "filters", open: wide }, summary, radius.node, rescore.node,
    Object.keys(index.labels).length ? [element("h2", {}, "Labels"), labels.node] : []);
  const set = (state, offered) => {
    const active = state.labels.length + state.without.length + (state.radius === null ? 0 : 1);
    summary.textContent = active ? `Filters (${active})` : "Filters";
    radius.set(state);
    rescore.set(state, offered);
    labels.set(state);
  };
  return { node, set };
}
