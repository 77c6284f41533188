/** `Marks`: rows of a list that the user has marked, for actions on several objects at once. */
import { computed, signal } from "@preact/signals";

/** Objects of one action. */
export const MARKS_MAX = 1000;

/** @typedef {import("../table/store.js").Row} Row */

export class Marks {
  constructor() {
    /** Whether rows show boxes. */
    this.shown = signal(false);
    /** Marked rows by uid. @type {import("@preact/signals").Signal<Map<string, Row>>} */
    this.rows = signal(new Map());
    this.count = computed(() => this.rows.value.size);
    this.last = "";
  }

  /**
   * Mark a row, or remove its mark. With `range`, all rows from the last one to this get its mark.
   * @param {Row} row
   * @param {{ range?: Row[] | null }} [options] `range`: the rows of the list in their order
   */
  toggle(row, { range = null } = {}) {
    const marked = !this.rows.peek().has(row.uid);
    const from = range ? range.findIndex((each) => each.uid === this.last) : -1;
    const to = range ? range.indexOf(row) : -1;
    this.last = row.uid;
    this.set(range && from >= 0 ? range.slice(Math.min(from, to), Math.max(from, to) + 1) : [row], marked);
  }

  /**
   * @param {Row[]} rows
   * @param {boolean} marked
   */
  set(rows, marked) {
    const next = new Map(this.rows.peek());
    for (const row of rows) {
      if (!marked) next.delete(row.uid);
      else if (next.size < MARKS_MAX) next.set(row.uid, row);
    }
    this.shown.value = true;
    this.rows.value = next;
  }

  /** Keep the marks of rows that still exist. @param {Map<string, Row>} present */
  keep(present) {
    const kept = [...this.rows.peek().keys()].flatMap((uid) => /** @type {[string, Row][]} */ (present.has(uid) ? [[uid, present.get(uid)]] : []));
    if (kept.length !== this.rows.peek().size) this.rows.value = new Map(kept);
  }

  clear() {
    this.rows.value = new Map();
    this.shown.value = false;
  }
}
