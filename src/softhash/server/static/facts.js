// What is known of a photograph beside its labels: when, by which camera, where, in which folder.

import { copyText } from "./clipboard.js";
import { button, element } from "./parts.js";
import { link } from "./state.js";

const WRITTEN = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" };

// The camera's own clock, of whatever zone.
export function takenWords(taken) {
  const time = new Date(`${taken}Z`);
  return Number.isNaN(time.getTime()) ? taken : time.toLocaleString("en-GB", WRITTEN);
}

function place({ latitude = null, longitude = null }) {
  if (latitude === null || longitude === null) return null;
  const text = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  const copy = button("Copy", async () => {
    copy.textContent = (await copyText(text)) ? "Copied" : "Not allowed here";
  }, "plain");
  copy.setAttribute("aria-label", "Copy the place");
  return [text, copy];
}

const lead = (text, part) => element("a", { href: link({ view: "browse", ...part }) }, text);

// Nothing where nothing is known.
export function factList(item) {
  const folder = item.file_name.split("/").slice(0, -1).join("/");
  const known = [
    ["Taken", item.taken ? takenWords(item.taken) : null],
    ["Camera", item.camera ? lead(item.camera, { camera: item.camera }) : null],
    ["Place", place(item)],
    ["Folder", folder ? lead(folder, { folder }) : null],
  ].filter(([, value]) => value !== null);
  if (!known.length) return null;
  return element("dl", { class: "known" }, known.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}
