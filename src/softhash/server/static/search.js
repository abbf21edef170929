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
    try {
      await (asks ? found.update(state, signal) : start.update(signal));
    } finally { // where it fails, too: else there is nothing to see
      start.node.hidden = asks;
      found.node.hidden = !asks;
    }
    return pictured ? "Similar pictures" : asks ? state.words : "Search";
  };
}
