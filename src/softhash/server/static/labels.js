// Chips of labels: with any or all of them, and without others; or an expression of one's own.

import { button, element } from "./parts.js";
import { OPEN } from "./state.js";
import { asksForLabels } from "./wanted.js";

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

// `note` stands behind the label, `said` is what is read out in its place; `maybe`: only likely.
export function labelChip(label, { note, said, title = null, maybe = false }, changed) {
  let state = OPEN;
  const onclick = () => changed(turned(label, state));
  const sign = element("span", { class: "sign", "aria-hidden": "true" });
  const kind = maybe ? "chip maybe" : "chip";
  const node = element("button",
    { type: "button", class: kind, title, "data-label": label, onclick }, sign,
    element("span", { class: "name" }, label), element("span", { class: "count" }, note));
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

function anyOrAll(changed) {
  const choice = (text, all) => {
    const box = element("input", { type: "radio", name: "mode", onchange: () => changed({ all }) });
    return { box, node: element("label", {}, box, text) };
  };
  const any = choice("any of them", false);
  const every = choice("all of them", true);
  const set = ({ all }) => { (all ? every : any).box.checked = true; };
  const group = { class: "mode", role: "radiogroup", "aria-label": "Pictures with" };
  return { node: element("div", group, any.node, every.node), set };
}

function expressionField(changed) {
  const field = element("input", {
    class: "find", id: "where", placeholder: "dog & (beach | lake) & !person",
    autocomplete: "off", spellcheck: "false", maxlength: 1000,
    onchange: () => changed({ where: field.value.trim() }),
  });
  const node = element("details", { class: "logic" }, element("summary", {}, "And, or, not"),
    element("label", { for: "where", class: "help" }, "Labels with & (and), | (or), ! (not):"),
    field);
  const set = ({ where }) => {
    field.value = where;
    if (where) node.open = true;
  };
  return { node, set };
}

// All labels with how many pictures have them, given and likely; the most common first.
export function countedLabels({ labels, likely = {} }) {
  const of = (counts, label) => (Object.hasOwn(counts, label) ? counts[label] : 0);
  const names = [...new Set([...Object.keys(labels), ...Object.keys(likely)])];
  return names.map((label) => ({ label, given: of(labels, label), likely: of(likely, label) }))
    .sort((a, b) => b.given + b.likely - a.given - a.likely || a.label.localeCompare(b.label));
}

function countedChip({ label, given, likely }, changed) {
  const all = (given + likely).toLocaleString("en");
  const said = likely ? `${given} given, ${likely} likely` : `${given} pictures`;
  return { given, ...labelChip(label,
    { note: all, said, title: likely ? said : null, maybe: !given }, changed) };
}

// Likely ones count too, unless it is on.
function givenOnly(changed) {
  const onchange = () => changed({ given: box.checked });
  const box = element("input", { type: "checkbox", onchange });
  const node = element("div", { class: "mode" },
    element("label", {}, box, "Given labels only"));
  return { node, set: ({ given }) => { box.checked = given; } };
}

export function labelChips(index, changed) {
  let state = OPEN;
  const chips = countedLabels(index).map((one) => countedChip(one, changed));
  const guesses = chips.some(({ node }) => node.classList.contains("maybe"));
  const list = element("div", { class: "chips", role: "group", "aria-label": "Labels" },
    chips.map(({ node }) => node));
  const find = element("input", {
    type: "search", class: "find", placeholder: `Find one of ${chips.length} labels`,
    "aria-label": "Find a label", oninput: () => offer(),
  });
  const clear = button("Clear labels",
    () => changed({ labels: [], without: [], where: "" }), "plain");
  const mode = anyOrAll(changed);
  const logic = expressionField(changed);
  const given = givenOnly(changed);
  given.node.hidden = !Object.keys(index.labels).length || !Object.keys(index.likely ?? {}).length;

  function offer() {
    const text = find.value.trim().toLowerCase();
    let left = MANY;
    for (const { node, label, given: items } of chips) {
      const fits = label.toLowerCase().includes(text) && left > 0 && (items || !state.given);
      node.hidden = !fits && stateOf(label, state) === "off";
      left -= fits ? 1 : 0;
    }
  }

  function set(next) {
    state = next;
    [...chips, mode, logic, given].forEach((one) => one.set(state));
    mode.node.hidden = state.labels.length < 2;
    clear.hidden = !asksForLabels(state);
    offer();
  }

  const help = element("p", { class: "help" },
    "Press a label once for pictures with it, twice for pictures without it.",
    guesses ? " Dashed ones are likely: nobody gave them, the model sees them." : "");
  const node = element("div", { class: "labels" },
    chips.length > MANY ? find : null, list, given.node, mode.node, help, logic.node, clear);
  return { node, set };
}
