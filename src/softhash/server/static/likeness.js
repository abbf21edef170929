// How alike a hit is: in words for everybody, in bits for the details.

import { bitsOf, codeStrip, element, unseen } from "./parts.js";
import { sureWords } from "./sure.js";

const WORDS = [ // by share of the bits; half of them differ by chance
  [1 / 8, "very alike"], [1 / 4, "alike"], [3 / 8, "somewhat alike"], [1, "less alike"],
];

const word = (distance, bits) => WORDS.find(([share]) => distance <= share * bits)[1];

// The one place that words a hit's likeness.
export const likeness = ({ distance = null, own = false }, bits) =>
  (own ? "the same file" : distance === null ? "" : word(distance, bits));

// The same with how sure it is, in full words.
export const alikeWords = (hit, bits) =>
  [likeness(hit, bits), sureWords(hit)].filter(Boolean).join(", ");

// What a limit on the distance lets through.
export const limitWords = (radius, bits) =>
  (radius >= bits ? "any" : radius === 0 ? "nearly the same" : `${word(radius, bits)}, or more`);

export function distanceOf(code, other, bits) {
  const theirs = bitsOf(other, bits);
  return bitsOf(code, bits).filter((bit, i) => bit !== theirs[i]).length;
}

// Only a search in finer order has it.
const weighed = ({ rescored = null }) => (rescored === null ? null
  : element("span", { class: "weighed" }, `, rescored ${rescored.toFixed(2)}`));

// Distance and differing bits of a hit, for the details.
export const workings = (hit, { code, bits }) => element("div", { class: "workings" },
  element("p", {}, unseen("distance "), element("b", {}, String(hit.distance)),
    hit.distance === 1 ? " bit away" : " bits away", weighed(hit)),
  code !== null && bits <= 256 ? codeStrip(hit.code, bits, code) : null);
