// Several pictures chosen at once, whatever the view: their paths can be copied, their files saved.

import { archive } from "./api.js";
import { copyText } from "./clipboard.js";
import { button, count, element, fileName } from "./parts.js";

const chosen = new Map();

const said = element("span", { class: "chosen", role: "status" });
const copy = button("Copy paths", async () => {
  const paths = [...chosen.values()].map((item) => item.file_name);
  const done = await copyText(paths.join("\n"));
  const copied = `${count(paths.length, "path", "paths")} copied`;
  said.textContent = done ? copied : "Copying is not allowed here";
}, "primary");

const MOST = 500; // files that the server packs into one zip
const LONGEST = 8000; // characters of an address
const zip = element("a", { class: "button", download: "pictures.zip" }, "Download zip");
zip.addEventListener("click", (event) => {
  if (!zip.hasAttribute("href")) event.preventDefault();
});

function offerZip() {
  const href = archive([...chosen.keys()]);
  zip.hidden = href === null;
  const fits = href !== null && chosen.size > 0 && chosen.size <= MOST && href.length < LONGEST;
  if (fits) zip.href = href;
  else zip.removeAttribute("href");
  zip.setAttribute("aria-disabled", String(!fits));
  return href === null || fits || !chosen.size;
}

const region = { class: "selection", "aria-label": "Selection", hidden: true };
export const bar = element("section", region, said,
  element("div", { class: "ways" }, copy, zip,
    button("Select none", () => clear()),
    button("Done", () => select(false), "plain")));

export const isChosen = (id) => chosen.has(id);

// Choose a picture or let go of it; its boxes in all lists follow.
export function choose(item, on = !chosen.has(item.id)) {
  if (on) chosen.set(item.id, item);
  else chosen.delete(item.id);
  follow();
}

function clear() {
  chosen.clear();
  follow();
}

function follow() {
  for (const box of document.querySelectorAll(".pick input")) {
    box.checked = chosen.has(Number(box.dataset.id));
  }
  copy.disabled = !chosen.size;
  const most = offerZip() ? "" : `; too many for one zip, which takes up to ${MOST}`;
  said.textContent = `${count(chosen.size, "picture", "pictures")} selected${most}`;
}

// Begin to select, or end it; what was chosen is forgotten then.
export function select(on) {
  document.body.classList.toggle("selecting", on);
  bar.hidden = !on;
  for (const one of document.querySelectorAll(".selects")) one.setAttribute("aria-pressed", on);
  if (!on) chosen.clear();
  follow();
}

export const selecting = () => document.body.classList.contains("selecting");

// The button that begins and ends it; each view has one.
export function selectButton() {
  const node = button("Select", () => select(!selecting()), "selects");
  node.setAttribute("aria-pressed", selecting());
  return node;
}

export function pickBox(item) {
  const box = element("input", {
    type: "checkbox", "data-id": item.id, checked: chosen.has(item.id),
    "aria-label": `Select ${fileName(item.file_name)}`, onchange: () => choose(item, box.checked),
  });
  return element("label", { class: "pick" }, box);
}
