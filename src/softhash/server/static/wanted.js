// The label filters of a state: as words for people, as parameters for the server.

const quoted = (label) => `"${label.replace(/["\\]/g, "\\$&")}"`;

// The chips as one expression, as in `("a" | "b") & !"c"`.
export function expression({ labels, without, all, where }) {
  const any = labels.map(quoted).join(all ? " & " : " | ");
  return [where && `(${where})`, any && (labels.length > 1 ? `(${any})` : any),
    ...without.map((label) => `!${quoted(label)}`)].filter(Boolean).join(" & ");
}

// Two plain lists wherever they can say it.
export const parameters = (state) => (state.where || (state.all && state.labels.length > 1)
  ? { where: expression(state) } : { label: state.labels, not_label: state.without });

export const asksForLabels = ({ labels, without, where }) =>
  labels.length + without.length > 0 || Boolean(where);

// The same in words: “with any of sky, tree”, “without car”.
export function inWords({ labels, without, all, where }) {
  const which = labels.length < 2 ? "" : all ? "all of " : "any of ";
  return [labels.length ? `with ${which}${labels.join(", ")}` : "",
    without.length ? `without ${without.join(", ")}` : "",
    where ? `where ${where}` : ""].filter(Boolean);
}
