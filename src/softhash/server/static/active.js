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
  // `kept`: for another picture than before; `sure`: whether it is known how sure hits are.
  const set = (state, kept, sure = true) => {
    const parts = inWords(state);
    if (state.radius !== null) parts.push(limitWords(state.radius, bits));
    const limit = state.sure === null ? null : limitText(state.sure);
    if (limit && sure) parts.push(limit);
    const intro = kept ? "Your filters still apply" : "Only pictures";
    const lost = limit && !sure ? [`To ask for ${limit}, give the picture itself.`] : [];
    const said = parts.length ? [`${intro}: ${parts.join(" · ")}${lost.length ? "." : ""}`] : [];
    text.textContent = [...said, ...lost].join(" ");
    node.hidden = !text.textContent;
  };
  return { node, set };
}
