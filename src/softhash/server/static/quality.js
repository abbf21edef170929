// Quality: a report's figures, curves, and the queries that went worst and best.

import * as api from "./api.js";
import { judge, legend } from "./card.js";
import { lineChart } from "./charts.js";
import { count, element, empty, photo, SIGNS, unseen } from "./parts.js";
import { link } from "./state.js";

const NAMES = {
  map: ["MAP", "Mean average precision: how early the relevant pictures come. 1 is perfect."],
  wap: ["WAP", "Weighted average precision: as MAP, counting how many labels are shared."],
  ndcg: ["NDCG", "How close the order is to the best possible one. 1 is perfect."],
  acg: ["ACG", "Average cumulative gain: labels a returned picture shares with the query."],
  precision: ["Precision", "Share of the returned pictures that have a label of the query."],
  recall: ["Recall", "Share of all relevant pictures that was returned."],
};
const CAUTION = "Some pictures of this index are searched for among the others. Those that the model was "
  + "trained on are easy for it: an honest measurement needs pictures that it never saw.";
const CURVES = ["precision", "recall", "ndcg", "acg"];

export function mount(main, { say }) {
  return async (state, signal) => {
    let report;
    try {
      report = await api.report(signal);
    } catch (problem) {
      if (![404, 422].includes(problem.status)) throw problem; // no report, or no labels
      const hint = problem.hint ? element("p", { class: "help" }, problem.hint) : null;
      main.replaceChildren(element("h1", { class: "unseen" }, "Quality"),
        empty("There is nothing to measure", problem.detail, hint));
      return "Quality";
    }
    main.replaceChildren(element("section", { class: "quality" },
      head(report), figures(report), curves(report.curves ?? {}),
      queries("Queries that went worst", report.worst ?? []),
      queries("Queries that went best", report.best ?? []), contract(report.contract)));
    say("Quality report shown");
    return "Quality";
  };
}

function head({ contract }) {
  const text = [
    contract.queries && count(contract.queries, "query", "queries"),
    contract.database && `${count(contract.database, "picture", "pictures")} to find`,
    contract.bits && count(contract.bits, "bit", "bits"),
  ].filter(Boolean).join(" · ");
  return element("div", {},
    element("div", { class: "head" },
      element("h1", {}, "Quality"), element("p", { class: "summary" }, text)),
    element("p", { class: "help" }, CAUTION));
}

// A cut-off beyond the database is the same as “all”.
const beyond = (cut, { at = {} }) => cut !== "all" && at.all !== undefined && at[cut] === at.all;

// Other queries would move a number by so much.
const unsure = (error) => (error ? ` ± ${error.toFixed(3)}` : "");

function figures({ metrics, standard_errors: errors = {}, contract: told }) {
  const found = Object.entries(NAMES).map(([metric, [name, meaning]]) => {
    const cuts = Object.entries(metrics)
      .map(([key, value]) => [...key.split("@"), value])
      .filter(([key, cut]) => key === metric && !beyond(cut, told));
    if (!cuts.length) return null;
    return element("div", { class: "figure" }, element("dt", {}, name),
      cuts.map(([key, cut, value], i) => element("dd", { class: i ? "further" : "first" },
        element("b", {}, value.toFixed(3)), unsure(errors[`${key}@${cut}`]), ` @${cut}`)),
      element("dd", { class: "help" }, meaning));
  });
  return element("dl", { class: "figures" }, found);
}

function curves(given) {
  const drawn = CURVES.filter((name) => given[name]?.length > 1);
  if (!drawn.length) return null;
  return element("section", {}, element("h2", {}, "Along the ranking"),
    element("div", { class: "charts" }, drawn.map((name) =>
      element("figure", {}, element("figcaption", {}, NAMES[name][0]),
        lineChart({
          x: given.n, y: given[name], xName: "returned pictures", yName: NAMES[name][0],
          top: name === "acg" ? null : 1,
        })))), numbers(given, drawn));
}

// The same as a table, for those who cannot see a line or want the numbers.
function numbers(given, drawn) {
  const row = (tag, cells) => element("tr", {}, cells.map((cell) => element(tag, {}, cell)));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Curves as numbers" };
  return element("details", { class: "numbers" }, element("summary", {}, "As numbers"),
    element("div", region, element("table", {},
      element("thead", {}, row("th", ["First", ...drawn.map((name) => NAMES[name][0])])),
      element("tbody", {}, given.n.map((n, i) =>
        row("td", [String(n), ...drawn.map((name) => given[name][i].toFixed(4))]))))));
}

function queries(title, rows) {
  if (!rows.length) return null;
  return element("section", { class: "queries" },
    element("div", { class: "head" }, element("h2", {}, title), legend()),
    rows.map(({ item, average_precision: score, hits }) => element("div", { class: "row" },
      element("a", { class: "picture asked", href: link({ id: item.id }) }, photo(item, 320)),
      element("p", { class: "score" }, element("b", {}, score.toFixed(3)),
        element("span", { class: "help" }, " average precision")),
      element("ul", { class: "answers", tabindex: 0, "aria-label": "Nearest pictures" },
        hits.map((hit) => answer(hit, item))))));
}

function answer(hit, item) {
  const { frame, text } = judge(hit, item.labels);
  return element("li", { class: "card", "data-frame": frame },
    element("a", { class: "picture", href: link({ view: "item", id: hit.id }) }, photo(hit, 160)),
    element("p", { class: "measure" },
      element("span", {}, element("b", {}, String(hit.distance)), unseen(" bits away")),
      element("span", { class: "verdict" },
        element("span", { "aria-hidden": "true" }, `${SIGNS[frame] ?? ""} `), text)));
}

function contract(told) {
  const plain = (value) => value !== null && typeof value !== "object";
  const rows = Object.entries(told).filter(([, value]) => plain(value));
  return element("details", { class: "numbers" }, element("summary", {}, "How it was measured"),
    element("dl", { class: "contract" }, rows.flatMap(([name, value]) =>
      [element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, String(value))])));
}
