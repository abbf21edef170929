// The elements that all views are made of. Data only ever becomes text, never markup.

import { picture } from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export const element = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);

export const drawing = (tag, attributes = {}, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

export const unseen = (text) => element("span", { class: "unseen" }, text);

export const count = (number, one, many) =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const fileName = (path) => path.split("/").pop();

export function bitsOf(code, bits) {
  const digits = [...code].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0"));
  return [...digits.join("").slice(0, bits)].map((bit) => bit === "1");
}

// How many cells of a code stand in a row, so that short codes fill it and long ones stay legible.
const rowLength = (bits) =>
  bits <= 24 ? bits : bits <= 64 ? Math.ceil(bits / 2) : bits <= 256 ? 32 : 64;

// A code as coloured cells. With `other`, only the bits that differ from it stand out.
export function codeStrip(code, bits, other = null) {
  const own = bitsOf(code, bits);
  const theirs = other === null ? null : bitsOf(other, bits);
  const length = theirs ? Math.min(bits, 64) : rowLength(bits);
  const rows = Math.ceil(bits / length);
  const cells = own.map((bit, i) =>
    drawing("rect", {
      x: (i % length) + 0.06, y: Math.floor(i / length) + 0.06, width: 0.88, height: 0.88, rx: 0.18,
      class: theirs ? (bit === theirs[i] ? "same" : "differs") : bit ? "one" : "zero",
      "fill-opacity": theirs || !bit ? null : 0.62 + (0.38 * (i % 8)) / 7,
    }));
  const name = `Code of ${bits} bits: ${own.map(Number).join("")}`;
  const described = theirs ? { "aria-hidden": "true" } : { role: "img", "aria-label": name };
  const box = { viewBox: `0 0 ${length} ${rows}`, class: theirs ? "strip thin" : "strip" };
  return drawing("svg", { ...box, ...described, preserveAspectRatio: "none" }, cells);
}

export const SIGNS = { all: "✓", some: "◐", none: "✕" };

const CERTAIN = 0.5; // likely labels below it are not read out

function labelsOf({ labels, likely = {} }) {
  const guesses = Object.keys(likely).filter((label) => likely[label] >= CERTAIN).slice(0, 3);
  return [...labels, ...guesses.map((label) => `likely ${label}`)].join(", ") || "no labels";
}

export const describe = (item) => `${fileName(item.file_name)}: ${labelsOf(item)}`;

export function photo(item, width, { lazy = true } = {}) {
  const source = picture(item, width);
  if (source === null) return element("span", { class: "blank" }, fileName(item.file_name));
  const image = element("img", {
    src: source, alt: describe(item), loading: lazy ? "lazy" : null, decoding: "async",
    draggable: "false", width: 1, height: 1,
  });
  const lost = `${fileName(item.file_name)} cannot be shown`;
  image.addEventListener("error", () => {
    image.replaceWith(element("span", { class: "blank" }, lost));
  });
  return image;
}

// A real empty state: what there is not, and what to do about it.
export const empty = (title, text, ...ways) =>
  element("div", { class: "empty" }, element("h2", {}, title), element("p", {}, text),
    element("div", { class: "ways" }, ways));

export const button = (text, onclick, kind = "") =>
  element("button", { type: "button", class: kind || null, onclick }, text);
