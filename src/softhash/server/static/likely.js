// What the model takes a picture for: labels with probabilities, those of the index as chips.

import { labelChip } from "./labels.js";
import { element } from "./parts.js";
import { OPEN } from "./state.js";

const SURE = 0.99; // above it a rounded percentage would read as certainty

const percent = (probability) =>
  `${probability > SURE ? "> " : ""}${(100 * Math.min(probability, SURE)).toFixed(0)} %`;

// A label that no picture of the index has cannot be asked for.
const plain = (label, note) => ({
  node: element("span", { class: "guess" }, label, " ", element("span", { class: "count" }, note)),
  set: () => {},
});

// `changed(part)`: labels of a state, as from the filters; `counts`: pictures of each label.
export function likelyLabels(counts, changed) {
  const list = element("div", { class: "chips", role: "group", "aria-labelledby": "likely" });
  const node = element("div", { class: "likely", hidden: true },
    element("h3", { id: "likely" }, "Looks like"), list);
  let chips = [];
  let state = OPEN;

  function set(next) {
    state = next;
    chips.forEach((one) => one.set(state));
  }

  function show(likely) {
    // Sorted again: a script puts names that are numbers first, whatever the server's order.
    const ordered = Object.entries(likely).sort((a, b) => b[1] - a[1]);
    chips = ordered.map(([label, probability]) => {
      const note = percent(probability);
      return Object.hasOwn(counts, label)
        ? labelChip(label, { note, said: `${note} likely` }, changed) : plain(label, note);
    });
    list.replaceChildren(...chips.map((one) => one.node));
    node.hidden = !chips.length;
    set(state);
    return node;
  }

  return { show, set };
}
