// Line charts as SVG: axes with round numbers, a line, and the last value written out.

import { drawing } from "./parts.js";

const WIDTH = 300;
const HEIGHT = 200;
const LEFT = 44;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 44;

// Round steps between two numbers, about `about` of them.
export function ticks(low, high, about = 4) {
  const rough = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((one) => one >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const value = (i) => Number(((first + i) * step).toPrecision(12));
  return Array.from({ length: last - first + 1 }, (_, i) => value(i));
}

const across = (low, high, from, to) => (value) =>
  from + ((value - low) / (high - low || 1)) * (to - from);

const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");

const text = (kind, x, y, anchor, content) =>
  drawing("text", { class: kind, x, y, "text-anchor": anchor }, content);

function axes(xs, ys, x, y, xName, yName) {
  const base = HEIGHT - BOTTOM;
  return [
    ys.map((value) => [
      drawing("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      text("tick", LEFT - 6, y(value) + 3.5, "end", short(value)),
    ]),
    xs.map((value) => [
      drawing("line", { class: "axis", x1: x(value), x2: x(value), y1: base, y2: base + 4 }),
      text("tick", x(value), base + 17, "middle", short(value)),
    ]),
    drawing("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: base, y2: base }),
    text("name", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", xName),
    drawing("g", { transform: `translate(10 ${(TOP + base) / 2}) rotate(-90)` },
      text("name", 0, 0, "middle", yName)),
  ].flat(2);
}

// A long ranking is looked at closely where it begins: then n is drawn by its powers of ten.
function position(at) {
  const powers = at[Math.floor(at.length / 2)] * 8 < at.at(-1);
  const scale = powers ? Math.log10 : (n) => n;
  const along = across(scale(at[0]), scale(at.at(-1)), LEFT, WIDTH - RIGHT);
  const marks = powers
    ? Array.from({ length: 7 }, (_, i) => 10 ** i).filter((n) => n >= at[0] && n <= at.at(-1))
    : ticks(at[0], at.at(-1), 5);
  return { x: (n) => along(scale(n)), marks };
}

// `top` is the highest value there can be, where there is one (1 for shares).
export function lineChart({ x: at, y: values, xName, yName, top = null }) {
  const highest = top ?? Math.max(...values) * 1.05;
  const { x, marks } = position(at);
  const y = across(0, highest || 1, HEIGHT - BOTTOM, TOP);
  const points = at.map((n, i) => `${x(n).toFixed(1)} ${y(values[i]).toFixed(1)}`);
  const base = HEIGHT - BOTTOM;
  const area = `M${LEFT} ${base}L${points.join("L")}L${x(at.at(-1))} ${base}Z`;
  const r = at.length > 30 ? 1.6 : 2.4;
  const dots = at.map((n, i) =>
    drawing("circle", { class: "dot", cx: x(n), cy: y(values[i]), r },
      drawing("title", {}, `${yName} of the first ${n}: ${values[i].toFixed(4)}`)));
  const name = `${yName} by number of returned pictures: ${values[0].toFixed(3)} of the first ` +
    `${at[0]}, ${values.at(-1).toFixed(3)} of the first ${at.at(-1)}`;
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart" };
  return drawing("svg", { ...box, role: "img", "aria-label": name },
    axes(marks, ticks(0, highest, 4), x, y, xName, yName),
    drawing("path", { class: "area", d: area }),
    drawing("path", { class: "line", d: `M${points.join("L")}` }), dots);
}
