// What the model takes a picture for: labels with probabilities, those of the index as chips.

import { ordered, percent } from "./guesses.js";
import { labelChip } from "./labels.js";
import { element } from "./parts.js";
import { OPEN } from "./state.js";

const MOST = 6;
const LEAST = 0.3; // as of a picture that is handed over: less probable labels are not named

// A label that no picture of the index has cannot be asked for.
const plain = (label, note) => ({
  node: element("span", { class: "guess" }, label, " ", element("span", { class: "count" }, note)),
  set: () => {},
});

// `changed(part)`: labels of a state, as from the filters; `known(label)`: whether any picture has
// it, given or likely.
export function likelyLabels(known, changed) {
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
    const named = ordered(likely).filter(([, probability]) => probability >= LEAST);
    chips = named.slice(0, MOST).map(([label, probability]) => {
      const note = percent(probability);
      return known(label)
        ? labelChip(label, { note, said: `${note} likely`, maybe: true }, changed)
        : plain(label, note);
    });
    list.replaceChildren(...chips.map((one) => one.node));
    node.hidden = !chips.length;
    set(state);
    return node;
  }

  return { show, set };
}
