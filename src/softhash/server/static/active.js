// What narrows a search, said where the pictures are; also that it was kept for another picture.

import { limitWords } from "./likeness.js";
import { button, element } from "./parts.js";
import { go, now, OPEN } from "./state.js";
import { limitText } from "./sure.js";
import { inWords } from "./wanted.js";

export function activeFilters(bits) {
  const text = element("span");
  const clear = button("Clear filters", () => go({ ...now(), ...OPEN }), "plain");
  const node = element("p", { class: "active", hidden: true }, text, clear);
  const set = (state, kept) => {
    const parts = inWords(state);
    if (state.radius !== null) parts.push(limitWords(state.radius, bits));
    if (state.sure !== null) parts.push(limitText(state.sure));
    const intro = kept ? "Your filters still apply" : "Only pictures";
    text.textContent = `${intro}: ${parts.join(" · ")}`;
    node.hidden = !parts.length;
  };
  return { node, set };
}
