// The hits of a state, page by page, and what of them means something for its kind of query.

import * as api from "./api.js";
import { groupTies } from "./grid.js";
import { parameters } from "./wanted.js";

export const PAGE = 24;
const ROUNDS = 4; // how often further ones are fetched where folding leaves gaps

// A link has a picture's code alone: neither how sure hits are nor a finer order comes from it.
export const offers = (state, { index, upload }) => {
  const picture = state.id === null ? Boolean(upload(state.code)) : true;
  return {
    alike: !state.words,
    sure: Boolean(index.sure) && !state.words && picture,
    finer: !state.words && Boolean(state.id === null ? picture : index.features),
  };
};

// What of a state is sent: a limit that means nothing for its query is left out.
function valuesOf(state, offered) {
  if (state.words) return { words: state.words };
  return {
    max_distance: state.radius, more: state.more, less: state.less,
    at_least: offered.sure && state.sure !== null ? state.sure / 100 : null,
  };
}

function fetchHits(state, context, offset, k, signal) {
  const { index, upload } = context;
  const offered = offers(state, context);
  const values = { k, offset, ...parameters(state), ...valuesOf(state, offered) };
  const features = index.features ? "features" : null;
  if (state.words) return api.search(values, signal);
  if (state.id !== null) {
    return api.similar(state.id, { ...values, rescore: state.rescore ? features : null }, signal);
  }
  const image = state.rescore || index.sure ? upload(state.code)?.sent : null;
  const finer = state.rescore ? { rescore: features ?? "bits" } : {};
  return api.search({ ...values, ...(image ? { image, ...finer } : { code: state.code }) }, signal);
}

// Fetch further hits until there are `cards` that are not folded, or no more.
export async function fill(state, context, { found = [], cards = PAGE, first = PAGE }, signal) {
  let k = first;
  for (let round = 1; ; round += 1) {
    const answer = await fetchHits(state, context, found.length, k, signal);
    found = [...found, ...answer.hits];
    const most = context.index.limits?.max_offset ?? Infinity;
    const ended = answer.hits.length < k || found.length >= most;
    if (ended || round === ROUNDS || groupTies(found).length >= cards) {
      return { answer, found, ended };
    }
    k = round === 1 ? PAGE : 2 * k;
  }
}
