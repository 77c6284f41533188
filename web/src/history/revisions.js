/** `Revisions`: the history of one object, page by page, with what changed in each revision and by whom. */
import { signal } from "@preact/signals";
import { moment } from "../past/moment.js";
import { readRevisions } from "../past/read.js";
import { actorOf } from "./actor.js";
import { changedFields } from "./changed_fields.js";

/**
 * @typedef {{ revision: string, type: "ADDED" | "MODIFIED" | "DELETED", time: string | null, actor: import("./actor.js").Actor,
 *   fields: import("./changed_fields.js").Field[], object: any, before: any, known: boolean }} Revision
 * `known`: false if the state before is not known, so that neither are the changed fields.
 */

const REVISIONS_MAX = 5000;

export class Revisions {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   */
  constructor(kind, namespace, name) {
    this.read = (/** @type {string} */ before) => readRevisions(kind, namespace, name, { before }, this.stop.signal);
    /** The newest first. @type {import("@preact/signals").Signal<Revision[]>} */
    this.all = signal([]);
    /** Why there are no older ones; empty while there are. @type {import("@preact/signals").Signal<"" | "Created" | "Expired" | "Full">} */
    this.end = signal("");
    this.loading = signal(false);
    this.loaded = signal(false);
    /** @type {import("@preact/signals").Signal<any>} */
    this.failed = signal(null);
    this.next = "";
    /** @type {import("./records.js").Change[]} */
    this.changes = [];
    this.stop = new AbortController();
  }

  /** Read the next page of older revisions. */
  async older() {
    if (this.loading.peek() || this.end.peek()) return;
    this.loading.value = true;
    try {
      const page = await this.read(this.next);
      this.#add(page);
      this.failed.value = null;
    } catch (error) {
      if (!this.stop.signal.aborted) this.failed.value = error;
    } finally {
      this.loading.value = false;
      this.loaded.value = true;
    }
  }

  /** Read what was written since. Earlier revisions stay. */
  async newer() {
    if (this.loading.peek() || !this.loaded.peek() || moment.peek()) return;
    this.loading.value = true;
    try {
      const page = await this.read("");
      const known = this.changes[0]?.resourceVersion;
      const at = page.changes.findIndex((each) => each.resourceVersion === known);
      if (at < 0) {
        this.changes = [];
        this.end.value = "";
        this.#add(page);
      } else if (at > 0) {
        this.changes = [...page.changes.slice(0, at), ...this.changes];
        this.all.value = [...revisionsOf(this.changes.slice(0, at + 1), "").slice(0, at), ...this.all.peek()];
      }
      this.failed.value = null;
    } catch (error) {
      if (!this.stop.signal.aborted) this.failed.value = error;
    } finally {
      this.loading.value = false;
    }
  }

  /** @param {import("./records.js").Page} page */
  #add({ changes, reason, next }) {
    const from = Math.max(0, this.changes.length - 1);
    this.changes = [...this.changes, ...changes].slice(0, REVISIONS_MAX);
    this.next = next;
    const over = reason === "Limit" && next !== "" ? "" : reason === "Limit" ? "Created" : reason;
    this.end.value = this.changes.length >= REVISIONS_MAX ? "Full" : over;
    // The oldest one of the page before gets what it changed.
    this.all.value = [...this.all.peek().slice(0, from), ...revisionsOf(this.changes.slice(from), this.end.peek())];
  }

  /** Stop reading. */
  close() {
    this.stop.abort();
  }
}

/**
 * Return revisions with their changes.
 * @param {import("./records.js").Change[]} changes the newest first
 * @param {string} end why there are no older ones
 * @returns {Revision[]}
 */
export function revisionsOf(changes, end) {
  return changes.map((change, i) => {
    const { type, resourceVersion, time, object } = change;
    const older = changes[i + 1];
    const before = type === "ADDED" || !older || older.type === "DELETED" ? null : older.object;
    const known = type === "ADDED" || Boolean(older) || end === "Created";
    const fields = !known || type === "DELETED" || (type === "MODIFIED" && before === null) ? [] : changedFields(before, object);
    return { revision: resourceVersion, type, time, actor: actorOf(change, before), fields, object, before, known: known && (before !== null || type !== "MODIFIED") };
  });
}
