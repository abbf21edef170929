// Filters by folder, date and camera; each is offered where the index has something to offer.

import * as api from "./api.js";
import { element } from "./parts.js";

const PAUSE = 700; // ms without a key: a date changes with every digit of its year
const FIRST = "1800"; // no photograph is older

let asked = null;

// What the pictures have; asked for once.
function collection() {
  const total = async (values) => (await api.items({ ...values, limit: 1 })).total;
  asked ??= Promise.all([
    api.folders(), total({ taken_after: FIRST }), total({ camera: "" }),
  ]).then(([{ folders }, dated, cameras]) => ({ folders, dated, cameras }));
  asked.catch(() => { asked = null; });
  return asked;
}

function folderChoice(changed, outermost) {
  const chosen = () => (choice.value === "" ? null : choice.value.slice(1));
  const choice = element("select", { id: "folder", onchange: () => changed({ folder: chosen() }) });
  const node = element("p", { class: "line folder", hidden: true },
    element("label", { for: "folder" }, "Folder"), choice);
  let state = { folder: null };
  // A value begins with a sign, since the name of the outermost folder is empty.
  const set = (next) => {
    state = next;
    choice.value = state.folder === null ? "" : `/${state.folder}`;
  };
  const offer = ({ folders }) => {
    const offered = folders.filter(({ name }) => name || outermost);
    choice.replaceChildren(element("option", { value: "" }, "All folders"),
      ...offered.map(({ name, items }) => element("option", { value: `/${name}` },
        `${name || "(not in a folder)"} (${items.toLocaleString("en")})`)));
    node.hidden = offered.length < 2;
    set(state);
  };
  return { node, set, offer };
}

function dates(changed) {
  const field = (name, text) => {
    let waiting = 0;
    const tell = () => {
      clearTimeout(waiting);
      const value = input.value >= FIRST ? input.value : null;
      if (value || !input.value) changed({ [name]: value }, true);
    };
    const input = element("input", { type: "date", id: name, class: "find",
      oninput: () => { clearTimeout(waiting); waiting = setTimeout(tell, PAUSE); }, onblur: tell });
    const set = (state) => {
      clearTimeout(waiting);
      if (input.value !== (state[name] ?? "")) input.value = state[name] ?? "";
    };
    const node = element("p", { class: "line" }, element("label", { for: name }, text), input);
    return { node, set };
  };
  const fields = [field("from", "Taken from"), field("to", "to")];
  const node = element("div", { class: "dates", hidden: true }, fields.map((one) => one.node));
  return {
    node,
    set: (state) => fields.forEach((one) => one.set(state)),
    offer: ({ dated }) => { node.hidden = !dated; },
  };
}

function cameraField(changed) {
  const input = element("input", {
    id: "camera", class: "find", placeholder: "any, or a part of its name", maxlength: 200,
    autocomplete: "off", spellcheck: "false",
    onchange: () => changed({ camera: input.value.trim() }),
  });
  const node = element("p", { class: "line", hidden: true },
    element("label", { for: "camera" }, "Camera"), input);
  return {
    node, set: ({ camera }) => { input.value = camera; },
    offer: ({ cameras }) => { node.hidden = !cameras; },
  };
}

// `changed(part, replace)`: part of a state; `outermost`: “not in a folder” can be chosen.
export function photoFilters(changed, { outermost = false } = {}) {
  const parts = [folderChoice(changed, outermost), dates(changed), cameraField(changed)];
  const [folder, ...others] = parts.map((one) => one.node);
  const offer = async () => {
    const known = await collection();
    parts.forEach((one) => one.offer(known));
    return others.some((one) => !one.hidden);
  };
  const set = (state) => parts.forEach((one) => one.set(state));
  return { folder, node: element("div", { class: "photo-filters" }, others), offer, set };
}
