/** `TableStore`: rows of one list, from one or several namespaces. Reflectors write it, the list reads it. */
import { signal } from "@preact/signals";
import { lastChange } from "./last_change.js";

/**
 * @typedef {{ name: string, type: string, format?: string, description?: string, priority?: number }} Column
 * @typedef {{ name: string, namespace?: string, uid: string, labels?: Record<string, string>,
 *   annotations?: Record<string, string>, creationTimestamp?: string, deletionTimestamp?: string,
 *   finalizers?: string[], generation?: number, resourceVersion?: string,
 *   ownerReferences?: { apiVersion: string, kind: string, name: string, uid: string, controller?: boolean }[] }} Metadata
 * @typedef {{ uid: string, cells: unknown[], metadata: Metadata, scope: string, seen: number,
 *   changed?: import("./last_change.js").Change | null, behind?: boolean }} Row
 * `behind`: the controller has not seen the last change.
 * @typedef {{ type: string, object: any }} WatchEvent
 */

/** The columns have changed, as those of a CRD may: the list must be read again. */
export class ColumnsChanged extends Error {}

/** Time in milliseconds between batches while the page is hidden. */
const HIDDEN_MS = 250;

export class TableStore {
  constructor() {
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {import("@preact/signals").Signal<Column[]>} */
    this.columns = signal([]);
    /** Increases with each change of the rows. */
    this.version = signal(0);
    /** Objects that the server has, but the page not yet. @type {import("@preact/signals").Signal<number>} */
    this.left = signal(0);
    /** @type {{ scope: string, event: WatchEvent }[]} */
    this.queue = [];
    this.scheduled = false;
    this.generation = 0;
  }

  /** Return the number of a new reading of a scope. */
  begin() {
    return ++this.generation;
  }

  /**
   * Add a page of a list.
   * @param {string} scope
   * @param {any} table
   * @param {number} generation
   */
  addPage(scope, table, generation) {
    if (table.columnDefinitions?.length) this.columns.value = table.columnDefinitions;
    for (const row of table.rows ?? []) this.#put(scope, row, generation);
    this.left.value = table.metadata?.remainingItemCount ?? 0;
    this.version.value++;
  }

  /**
   * Remove the rows of a scope that its last reading did not have.
   * @param {string} scope
   * @param {number} generation
   */
  finish(scope, generation) {
    for (const [uid, row] of this.rows) {
      if (row.scope === scope && row.seen < generation) this.rows.delete(uid);
    }
    this.version.value++;
  }

  /**
   * Keep events of a watch for the next frame. Raises `ColumnsChanged`.
   * @param {string} scope
   * @param {WatchEvent[]} events
   */
  enqueue(scope, events) {
    for (const event of events) {
      this.#checkColumns(event.object?.columnDefinitions);
      this.queue.push({ scope, event });
    }
    if (this.scheduled || this.queue.length === 0) return;
    this.scheduled = true;
    if (document.hidden) setTimeout(() => this.flush(), HIDDEN_MS);
    else requestAnimationFrame(() => this.flush());
  }

  /** Apply all events that wait, as one change. */
  flush() {
    this.scheduled = false;
    const waiting = this.queue;
    this.queue = [];
    for (const { scope, event } of waiting) {
      for (const row of event.object?.rows ?? []) {
        if (event.type === "DELETED") this.rows.delete(row.object?.metadata?.uid);
        else if (event.type === "ADDED" || event.type === "MODIFIED") this.#put(scope, row, this.generation);
      }
    }
    if (waiting.length) this.version.value++;
  }

  clear() {
    this.rows.clear();
    this.queue = [];
    this.left.value = 0;
    this.version.value++;
  }

  /** @param {Column[] | null | undefined} columns */
  #checkColumns(columns) {
    const present = this.columns.peek();
    if (!columns?.length || present.length === 0) return;
    if (columns.length !== present.length || columns.some((each, i) => each.name !== present[i].name)) {
      throw new ColumnsChanged("columns changed");
    }
  }

  /**
   * @param {string} scope
   * @param {any} row
   * @param {number} generation
   */
  #put(scope, row, generation) {
    const metadata = row.object?.metadata ?? {};
    const behind = Boolean(row.conditions?.some((/** @type {any} */ each) => each.type === "Observed" && each.status === "False"));
    const changed = lastChange(metadata.managedFields);
    delete metadata.managedFields;
    const uid = metadata.uid ?? `${metadata.namespace ?? ""}/${metadata.name ?? row.cells[0]}`;
    this.rows.set(uid, { uid, cells: row.cells, metadata, scope, seen: generation, changed, behind });
  }
}
