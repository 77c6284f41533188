/** Revision of a list at a moment, from the changes of the list. */
import { readChanges } from "../history/records.js";
import { session } from "../session/session.js";
import { found } from "./moment.js";
import { search, unbounded } from "./search.js";

/**
 * @typedef {{ revision: string, read: string, ms: number, uncertain: boolean }} At
 * `revision`: of the last change; empty if none is known. `read`: the newest revision with the state of the moment, which the server keeps longest;
 * empty if the list has not changed since. `uncertain`: the history does not reach the moment.
 */

const LEASES = "/apis/coordination.k8s.io/v1/leases";
/** Time of the oldest changes that are kept, if it is not known: they show not that the history reaches a moment. */
const END_OF_TIME = "9999-12-31T23:59:59Z";
/** Bounds of the moment that is shown, from all searches for it, and what they found by path. */
let known = { text: "", bounds: unbounded(), found: /** @type {Map<string, At>} */ (new Map()) };
/** Searches run one after another: each learns from those before. @type {Promise<unknown>} */
let waiting = Promise.resolve();

/**
 * Return the revision of a list at a moment. Raises `StatusError`, `ConnectionLost` and `NoHistory`.
 * @param {string} path of the list
 * @param {import("./moment.js").Moment} moment
 * @param {AbortSignal} signal
 * @returns {Promise<At>}
 */
export function revisionAt(path, moment, signal) {
  const result = waiting.then(() => searchIn(path, moment, signal));
  waiting = result.catch(() => {});
  return result;
}

/** @param {string} path @param {import("./moment.js").Moment} moment @param {AbortSignal} signal @returns {Promise<At>} */
async function searchIn(path, moment, signal) {
  if (known.text !== moment.text) known = { text: moment.text, found: new Map(), bounds: { ...unbounded(), ...(moment.revision ? { low: moment.revision, high: moment.revision + 1 } : {}) } };
  const kept = known.found.get(path);
  if (kept) return kept;
  const { bounds } = known;
  const { last, first, until, expired } = await search(probeOf(path, signal), isAfter(moment), bounds);
  // A list without changes shows not whether the history reaches the moment: leases change all the time.
  if (expired && bounds.low === 0) await search(probeOf(LEASES, signal), isAfter(moment), bounds).catch(() => {});
  const revision = last ? last.resourceVersion : first ? String(Number(first.resourceVersion) - 1) : "";
  const reach = Math.min(until, bounds.high - 1);
  const ms = last?.time ? Date.parse(last.time) : NaN;
  const at = {
    revision: moment.revision ? String(moment.revision) : revision === "0" ? "1" : revision,
    read: moment.revision ? String(moment.revision) : reach === Infinity ? revision : String(Math.max(1, reach)),
    ms, uncertain: expired && bounds.low === 0,
  };
  // Without a revision, the list of now is read: it may change.
  if (at.read) known.found.set(path, at);
  const shown = found.peek();
  if (shown?.text !== moment.text) found.value = { text: moment.text, ...at };
  else if (at.uncertain && !shown.uncertain) found.value = { ...shown, uncertain: true };
  return at;
}

/**
 * Return the revision of the change next to the one that is shown; empty if there is none.
 * @param {string} path of the list, or of the object
 * @param {"changes" | "revisions"} mode
 * @param {number} revision that is shown
 * @param {1 | -1} direction
 * @returns {Promise<string>}
 */
export async function nextChange(path, mode, revision, direction) {
  const probe = probeOf(path, new AbortController().signal, mode);
  if (direction < 0) return (await probe(String(revision))).change?.resourceVersion ?? "";
  const { first } = await search(probe, (change) => Number(change.resourceVersion) > revision, { low: revision, high: Infinity });
  return first?.resourceVersion ?? "";
}

/** @param {import("./moment.js").Moment} moment @returns {(change: import("./search.js").Change) => boolean} */
function isAfter({ revision, ms }) {
  if (revision) return (change) => Number(change.resourceVersion) > revision;
  return ({ time }) => time !== null && Date.parse(time) > ms;
}

/**
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {"changes" | "revisions"} mode
 * @returns {import("./search.js").Probe}
 */
function probeOf(path, signal, mode = "changes") {
  return async (before) => {
    const { changes, reason } = await readChanges(session.transport, path, mode, { before, limit: 1 }, signal);
    const [change = null] = changes;
    if (change === null || change.time !== null) return { change, expired: reason === "Expired" };
    // The time of some deletions, and of writes without a manager, is not known. It is not earlier than that of the changes before.
    const older = await readChanges(session.transport, path, mode, { before: change.resourceVersion }, signal);
    const time = older.changes.find((each) => each.time !== null)?.time ?? (older.reason === "Expired" ? END_OF_TIME : null);
    return { change: { ...change, time }, expired: false };
  };
}
