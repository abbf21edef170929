// More of one thing, less of another: words that move the hits of a picture up or down.

import { button, element } from "./parts.js";
import { go, now } from "./state.js";
import { wordField } from "./words.js";

const MOST = 20; // that the server takes

const without = (words, gone) => words.filter((one) => one !== gone);

// The form, behind a summary.
export function tuning() {
  const field = wordField({ id: "tune", label: "A word", placeholder: "snow" });
  const add = (way, other) => {
    field.close();
    const state = now();
    const words = field.input.value.trim();
    if (!words || state[way].length >= MOST) return field.input.focus();
    field.input.value = "";
    return go({ ...state, [way]: [...without(state[way], words), words],
      [other]: without(state[other], words) });
  };
  // Completions stay while a button is pressed: if they went away, it would slip from the pointer.
  const ways = element("div", { class: "ways", onmousedown: (event) => event.preventDefault() },
    element("button", {}, "+ More of it"), button("− Less of it", () => add("less", "more")));
  const form = element("form", {
    class: "tune", "aria-label": "More or less of something",
    onsubmit: (event) => { event.preventDefault(); add("more", "less"); },
  }, field.node, ways);
  const node = element("details", { class: "panel tuning" },
    element("summary", {}, "More, less"),
    element("p", { class: "help" }, "Name what the pictures should show more of, or less of."),
    form);
  return { node };
}

// What was chosen, each to be taken away again.
export function tuned() {
  const node = element("div", { class: "tuned chips", role: "group", "aria-label": "More and less",
    hidden: true });
  const chip = (way, sign, words) => {
    const gone = () => go({ ...now(), [way]: without(now()[way], words) });
    const away = button(`${sign} ${words}`, gone, "chip");
    away.append(element("span", { "aria-hidden": "true" }, "✕"));
    away.setAttribute("aria-label", `${way} ${words}, take away`);
    away.dataset.way = way;
    return away;
  };
  const set = ({ more, less }, offered) => {
    const focused = node.contains(document.activeElement);
    node.replaceChildren(...more.map((words) => chip("more", "+ more", words)),
      ...less.map((words) => chip("less", "− less", words)));
    node.hidden = !offered || !node.children.length;
    if (focused) node.querySelector("button")?.focus();
  };
  return { node, set };
}
