/** Reads the history of an object or of a collection from the server: one line for each write, the newest first. */

import { StatusError, safeMessage } from "../transport/errors.js";

export const PAGE = 100;

/**
 * @typedef {{ type: "ADDED" | "MODIFIED" | "DELETED", resourceVersion: string, time: string | null, user: string | null,
 *   userAgent: string | null, manager?: string | null, object: any }} Change
 * `object` is the state after the write; of a deletion, the last state.
 * @typedef {{ changes: Change[], reason: "Created" | "Expired" | "Limit", next: string }} Page
 * `next`: revision before which the next page begins; empty on the last one.
 * @typedef {{ before?: string, limit?: number, selectors?: Record<string, string> }} Range
 */

/** The server has no history: it is not Sampan, or an older one. */
export class NoHistory extends Error {
  constructor() {
    super("the server has no history");
    this.name = "NoHistory";
  }
}

/**
 * Return a page of a history. Raises `StatusError`, `ConnectionLost` and `NoHistory`.
 * @param {{ lines: import("../transport/fetch_transport.js").Transport["lines"] }} transport
 * @param {string} path
 * @param {"revisions" | "deleted" | "changes"} mode
 * @param {Range} range
 * @param {AbortSignal} [signal]
 * @returns {Promise<Page>}
 */
export async function readChanges(transport, path, mode, { before = "", limit = PAGE, selectors = {} }, signal) {
  const query = new URLSearchParams({ ...selectors, "sampan.dev/history": mode, limit: String(limit) });
  if (before) query.set("sampan.dev/before", before);
  /** @type {Change[]} */
  const changes = [];
  /** @type {any} */
  let end = null;
  let foreign = false;
  await transport.lines(`${path}?${query}`, (documents) => {
    for (const each of documents) {
      if (each.type === "END" || each.type === "ERROR") end = each;
      else if (!isChange(each)) foreign = true;
      // A state that the server cannot read has no object.
      else if (each.object !== null && changes.length < limit) changes.push(each);
    }
  }, signal);
  if (end === null || foreign) throw new NoHistory();
  if (end.type === "ERROR") throw new StatusError(end.object?.code ?? 500, { ...end.object, message: safeMessage(end.object?.message) });
  return { changes, reason: end.reason, next: end.continue ?? "" };
}

/** @param {any} document */
function isChange(document) {
  return ["ADDED", "MODIFIED", "DELETED"].includes(document?.type) && typeof document.resourceVersion === "string" && (document.object === null || Boolean(document.object?.metadata));
}
