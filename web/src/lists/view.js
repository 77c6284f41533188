/** `ListView`: the rows of a store that a list shows, filtered and sorted. It is computed at most a fifth of the time. */
import { batch, effect, signal, untracked } from "@preact/signals";
import { matching } from "../filter/match.js";
import { healthWith } from "../health/row_health.js";
import { listColumns } from "../table/columns.js";
import { sortRows } from "../table/order.js";
import { now } from "../time/clock.js";

/** A view may take this share of the time: the page stays responsive while many objects change. */
const SHARE = 5;
const QUICK_MS = 4;
/** Time in milliseconds between two computations that depend on the time. */
const TIME_MS = 30_000;

/**
 * @typedef {{ terms: import("../filter/parse.js").Term[], sort: import("../table/order.js").Sort | null,
 *   problems: boolean, wide: boolean, namespaced: boolean, namespaces: ReadonlySet<string> | null }} ViewOptions
 */

export class ListView {
  /**
   * @param {import("../table/store.js").TableStore} store
   * @param {() => ViewOptions} options read as a signal
   */
  constructor(store, options) {
    this.store = store;
    this.options = options;
    /** @type {import("@preact/signals").Signal<import("../table/store.js").Row[]>} */
    this.rows = signal([]);
    /** @type {import("@preact/signals").Signal<import("../table/columns.js").ListColumn[]>} */
    this.columns = signal([]);
    this.problemCount = signal(0);
    this.total = signal(0);
    this.stoppedAfter = signal(0);
    this.health = healthWith([]);
    /** Widths of the columns so far. @type {{ columns: unknown, values: number[] } | undefined} */
    this.widths = undefined;
    this.duration = 0;
    this.computedAt = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Follow the store and the options. Return a function that ends it. */
  start() {
    const ends = [
      effect(() => {
        this.options();
        this.store.columns.value;
        untracked(() => this.#now());
      }),
      effect(() => {
        this.store.version.value;
        untracked(() => this.#soon());
      }),
    ];
    const timer = setInterval(() => !document.hidden && this.#soon(), TIME_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(this.timer);
      this.timer = undefined;
      for (const end of ends) end();
    };
  }

  /** @param {import("../table/store.js").Row} row */
  healthOf(row) {
    return this.health(row, now.peek());
  }

  #soon() {
    if (this.timer !== undefined) return;
    const wait = this.computedAt + this.duration * SHARE - performance.now();
    if (this.duration < QUICK_MS || wait <= 0) this.#now();
    else this.timer = setTimeout(() => this.#now(), wait);
  }

  #now() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const began = performance.now();
    this.#compute();
    this.computedAt = performance.now();
    this.duration = this.computedAt - began;
  }

  #compute() {
    const { terms, sort, problems, wide, namespaced, namespaces } = this.options();
    const definitions = this.store.columns.peek();
    const all = listColumns(definitions, { namespaced, wide: true });
    this.health = healthWith(definitions);
    const nowMs = now.peek();
    const healthOf = (/** @type {import("../table/store.js").Row} */ row) => this.health(row, nowMs);
    let rows = [...this.store.rows.values()];
    if (namespaces) rows = rows.filter((row) => namespaces.has(row.metadata.namespace ?? ""));
    const total = rows.length;
    const troubled = rows.filter((row) => healthOf(row).problem);
    const found = matching(problems ? troubled : rows, terms, { columns: all, healthOf, now: nowMs });
    const sorted = sortRows(found.rows, all, sort);
    batch(() => {
      this.columns.value = sameColumns(this.columns.peek(), wide ? all : all.filter((each) => !each.wide));
      this.total.value = total;
      this.problemCount.value = troubled.length;
      this.stoppedAfter.value = found.stoppedAfter;
      this.rows.value = sorted;
    });
  }
}

/**
 * Return the old columns if the new ones are equal, so that nothing is drawn again.
 * @param {import("../table/columns.js").ListColumn[]} before
 * @param {import("../table/columns.js").ListColumn[]} after
 */
function sameColumns(before, after) {
  return before.length === after.length && before.every((each, i) => each.id === after[i].id && each.index === after[i].index)
    ? before
    : after;
}

