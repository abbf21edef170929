// What to say, and to offer, where a search finds nothing.

import { button, empty } from "./parts.js";
import { emptyIndex } from "./start.js";
import { go, now, OPEN } from "./state.js";
import { asksForFacts, asksForLabels } from "./wanted.js";

const lift = (text, part) => button(text, () => go({ ...now(), ...part }), "primary");

const WAYS = [
  [({ sure }) => sure !== null, "However sure", { sure: null }],
  [({ radius }) => radius !== null, "However alike", { radius: null }],
  [asksForLabels, "Clear labels", { labels: [], without: [], where: "" }],
  [asksForFacts, "Any folder, date and camera", { folder: null, from: null, to: null, camera: "" }],
];

const SAID = [
  ["Nothing is that sure", "Allow hits that are less sure to share something with your picture."],
  ["Nothing is that alike",
    "Allow pictures that are less alike: move the slider to the right, or take away the limit."],
  ["No picture has these labels", "Ask for fewer labels, or leave fewer out."],
  ["No picture is from there and then", "Ask for another folder, more time, or any camera."],
];

export function nothing(state, index) {
  const places = WAYS.flatMap(([active], place) => (active(state) ? [place] : []));
  const ways = places.map((place) => lift(...WAYS[place].slice(1)));
  if (places.length > 1) {
    return empty("Nothing is left by these filters", "Take one of them away, or all.",
      ...ways, button("Clear filters", () => go({ ...now(), ...OPEN })));
  }
  if (places.length === 1) return empty(...SAID[places[0]], ...ways);
  if (state.words) {
    return empty("No picture seems to show that", "Search with other words, or with a picture.");
  }
  return index.items ? empty("Nothing found", "The index has no other picture.") : emptyIndex();
}
