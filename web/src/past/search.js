/**
 * Search for the last change before a moment. Revisions grow with time, so halving finds it: each probe reads one change.
 *
 * What one search learns about a moment holds for all collections, because they share the revisions of one store.
 */

/**
 * @typedef {import("../history/records.js").Change} Change
 * @typedef {(before: string) => Promise<{ change: Change | null, expired: boolean }>} Probe
 * A probe returns the newest change before a revision; the newest of all if that is empty.
 * @typedef {{ low: number, high: number }} Bounds
 * Changes up to `low` are not after the moment; those from `high` on are.
 * @typedef {{ last: Change | null, first: Change | null, until: number, expired: boolean }} Found
 * `last`: the newest change that is not after the moment. `first`: the oldest known one after it. `until`: the collection has not changed between the moment and this revision. `expired`: without `last`, earlier changes were removed.
 */

const PROBES_MAX = 120;

/** @returns {Bounds} */
export function unbounded() {
  return { low: 0, high: Infinity };
}

/**
 * Return the changes next to a moment. Narrows the bounds.
 * @param {Probe} probe
 * @param {(change: Change) => boolean} isAfter
 * @param {Bounds} bounds
 * @returns {Promise<Found>}
 */
export async function search(probe, isAfter, bounds) {
  /** @type {Change | null} */
  let last = null;
  /** @type {Change | null} */
  let first = null;
  let expired = false;
  // No change is in (low, high) once they meet.
  let low = -1;
  let high = bounds.high;
  let before = high === Infinity ? "" : String(high);
  let step = 1;
  for (let i = 0; i < PROBES_MAX; i++) {
    const answer = await probe(before);
    const revision = Number(answer.change?.resourceVersion ?? 0);
    const limit = before === "" ? Infinity : Number(before);
    if (answer.change && revision > bounds.low && isAfter(answer.change)) {
      first = answer.change;
      high = revision;
      bounds.high = Math.min(bounds.high, revision);
    } else {
      if (answer.change) last = answer.change;
      else expired = answer.expired;
      if (answer.change) bounds.low = Math.max(bounds.low, revision);
      low = Math.max(low, limit - 1);
    }
    if ((low >= 0 && high - low <= 1) || low === Infinity) break;
    // Back in growing steps until a change before the moment is known, then by halves.
    if (low < 0) {
      before = String(Math.max(1, bounds.low + 1, high - step + 1));
      step *= 2;
    } else {
      before = String(Math.floor((low + 1 + high) / 2) + ((low + 1 + high) % 2));
    }
  }
  return { last, first, until: high - 1, expired: last === null && expired };
}
