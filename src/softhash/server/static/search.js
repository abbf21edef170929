// Search: before a query an invitation, after it what was found.

import { foundPart } from "./found.js";
import { startPart } from "./start.js";

export function mount(main, context) {
  const start = startPart(context);
  const found = foundPart(context);
  main.replaceChildren(start.node, found.node);
  return async (state, signal) => {
    const pictured = state.id !== null || state.code !== null;
    const asks = pictured || Boolean(state.words);
    if (asks) await found.update(state, signal);
    else await start.update(signal);
    start.node.hidden = asks;
    found.node.hidden = !asks;
    return pictured ? "Similar pictures" : asks ? state.words : "Search";
  };
}
