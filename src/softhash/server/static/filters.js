// What narrows a search: how alike, how sure, which labels, when and where; and its finer order.
// Focus stays through all.

import { labelChips } from "./labels.js";
import { limitWords } from "./likeness.js";
import { element } from "./parts.js";
import { photoFilters } from "./photofilters.js";
import { sureLimit } from "./sure.js";

const PAUSE = 150; // ms without a move of the slider before a search

function radiusSlider(bits, changed) {
  const output = element("output", { for: "radius" });
  const slider = element("input", { type: "range", id: "radius", min: 0, max: bits, step: 1 });
  let waiting = 0;
  const tell = () => {
    const words = limitWords(Number(slider.value), bits);
    output.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    slider.title = `at most ${slider.value} of ${bits} bits differ`;
  };
  slider.addEventListener("input", () => {
    tell();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const value = Number(slider.value);
      changed({ radius: value >= bits ? null : value });
    }, PAUSE);
  });
  const set = ({ radius }, offered) => {
    node.hidden = !offered;
    clearTimeout(waiting);
    slider.value = radius ?? bits;
    tell();
  };
  const node = element("div", { class: "radius" },
    element("label", { for: "radius" }, "How alike"), output, slider);
  return { node, set };
}

// By features where the index keeps them; else for a picture alone, whose real-valued outputs show
// how sure each bit is.
function rescoreBox(changed) {
  const box = element("input", { type: "checkbox", id: "rescore", "aria-describedby": "finer" });
  box.addEventListener("change", () => changed({ rescore: box.checked }));
  const node = element("div", { class: "rescore" },
    box, element("label", { for: "rescore" }, "Finer order"),
    element("p", { class: "help", id: "finer" },
      "The most alike are compared once more, in greater detail."));
  const set = ({ rescore }, offered) => {
    box.checked = rescore;
    node.hidden = !offered;
  };
  return { node, set };
}

export const hasLabels = ({ labels, likely = {} }) =>
  Object.keys(labels).length + Object.keys(likely).length > 0;

const countActive = (state, offered) => state.labels.length + state.without.length
  + [state.radius !== null, offered.sure && state.sure !== null, state.where, state.given, state.folder !== null,
    state.from || state.to, state.camera].filter(Boolean).length;

// `changed(part, replace)`: part of a state; a slider's steps replace one another in the history.
export function filters(index, changed) {
  const radius = radiusSlider(index.bits, (part) => changed(part, true));
  const rescore = rescoreBox((part) => changed(part, false));
  const sure = sureLimit((part) => changed(part, false));
  const labels = labelChips(index, (part) => changed(part, false));
  const photos = photoFilters(changed);
  const wide = matchMedia("(min-width: 56rem)").matches;
  const summary = element("summary", {}, "Filters");
  const node = element("details", { class: "panel filters", open: wide }, summary,
    radius.node, sure.node, rescore.node, photos.folder, photos.node,
    hasLabels(index) ? [element("h2", {}, "Labels"), labels.node] : []);
  // `offered`: which of `alike`, `sure` and `finer` mean something for this search.
  const set = (state, offered) => {
    const active = countActive(state, offered);
    summary.textContent = active ? `Filters (${active})` : "Filters";
    radius.set(state, offered.alike);
    sure.set(state, offered.sure);
    rescore.set(state, offered.finer);
    photos.set(state);
    labels.set(state);
  };
  return { node, set, offer: photos.offer };
}
