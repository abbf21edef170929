// The filters of a state: as words for people, as parameters for the server.

const quoted = (label) => `"${label.replace(/["\\]/g, "\\$&")}"`;

// The chips as one expression, as in `("a" | "b") & !"c"`.
export function expression({ labels, without, all, where }) {
  const any = labels.map(quoted).join(all ? " & " : " | ");
  return [where && `(${where})`, any && (labels.length > 1 ? `(${any})` : any),
    ...without.map((label) => `!${quoted(label)}`)].filter(Boolean).join(" & ");
}

// Two plain lists wherever they can say it.
const labelParameters = (state) => (state.where || (state.all && state.labels.length > 1)
  ? { where: expression(state) } : { label: state.labels, not_label: state.without });

const DAY = 24 * 60 * 60 * 1000;

// The server's end is exclusive, a person's is not.
const dayAfter = (day) => new Date(Date.parse(day) + DAY).toISOString().slice(0, 10);

export const parameters = (state) => ({
  ...labelParameters(state),
  given_only: state.given || null,
  folder: state.folder,
  taken_after: state.from,
  taken_before: state.to && dayAfter(state.to),
  camera: state.camera || null,
});

export const asksForLabels = ({ labels, without, where }) =>
  labels.length + without.length > 0 || Boolean(where);

export const asksForFacts = ({ folder, from, to, camera }) =>
  folder !== null || Boolean(from || to || camera);

const labelWords = ({ labels, without, all, where }) => {
  const which = labels.length < 2 ? "" : all ? "all of " : "any of ";
  return [labels.length ? `with ${which}${labels.join(", ")}` : "",
    without.length ? `without ${without.join(", ")}` : "",
    where ? `where ${where}` : ""];
};

const dateWords = ({ from, to }) => (from && to ? `taken from ${from} to ${to}`
  : from ? `taken from ${from}` : to ? `taken until ${to}` : "");

// The same in words: “with any of sky, tree”, “without car”, “taken from 2024-05-01”.
export const inWords = (state) => [
  ...labelWords(state),
  state.given && asksForLabels(state) ? "given labels only" : "",
  state.folder === null ? "" : state.folder ? `in ${state.folder}` : "not in a folder",
  dateWords(state),
  state.camera ? `by a camera “${state.camera}”` : "",
].filter(Boolean);
