// How sure it is that a hit shares something with the query: in words, and as a limit.

import { percent } from "./guesses.js";
import { element, unseen } from "./parts.js";

const STEPS = [50, 60, 70, 80, 90, 95];

// Nothing where it is not known.
export const sureWords = ({ sure = null, own = false }) => (sure === null || own ? ""
  : sure === 1 ? "sure to share something" : `${percent(sure)} sure to share something`);

// The same on a card, where room is scarce.
export function sureNote(hit) {
  const words = sureWords(hit);
  const number = words && hit.sure !== 1;
  return words ? element("span", { class: "sure", title: words },
    number ? [`${percent(hit.sure)} sure`, unseen(" to share something")] : words) : null;
}

export const limitText = (least) => `at least ${least} % sure`;

export function sureLimit(changed) {
  const choice = element("select", {
    id: "sure", onchange: () => changed({ sure: Number(choice.value) || null }),
  });
  const node = element("div", { class: "line", hidden: true },
    element("label", { for: "sure" }, "Only hits"), choice,
    element("p", { class: "help" }, "Sure means: to share something with your picture."));
  const set = ({ sure }, offered) => {
    const steps = [...new Set([...STEPS, sure ?? STEPS[0]])].sort((a, b) => a - b);
    choice.replaceChildren(element("option", { value: "" }, "however sure"),
      ...steps.map((step) => element("option", { value: step }, `at least ${step} % sure`)));
    choice.value = sure ?? "";
    node.hidden = !offered;
  };
  return { node, set };
}
