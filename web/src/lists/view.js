/**
 * `ListView`: the rows of a store that a list shows, filtered and sorted. It is computed at most a fifth of the time, and in
 * slices if there are many rows.
 */
import { batch, effect, signal, untracked } from "@preact/signals";
import { BUDGET_MS, matching } from "../filter/match.js";
import { healthWith } from "../health/row_health.js";
import { listColumns } from "../table/columns.js";
import { sortRows } from "../table/order.js";
import { STEP, inSlices } from "../table/slices.js";
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
    /** Whether rows are problems: it changes with them, with the columns, and slowly with the time. */
    this.judged = { definitions: /** @type {unknown} */ (null), at: 0, problems: /** @type {Map<object, boolean>} */ (new Map()) };
    /** Widths of the columns so far. @type {{ columns: unknown, values: number[] } | undefined} */
    this.widths = undefined;
    this.duration = 0;
    this.computedAt = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Ends the calculation that runs. @type {(() => void) | null} */
    this.stop = null;
    this.changed = false;
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
      this.#end();
      for (const end of ends) end();
    };
  }

  /** @param {import("../table/store.js").Row} row */
  healthOf(row) {
    return this.health(row, now.peek());
  }

  #soon() {
    if (this.stop) this.changed = true;
    if (this.stop || this.timer !== undefined) return;
    const wait = this.computedAt + this.duration * SHARE - performance.now();
    if (this.duration < QUICK_MS || wait <= 0) this.#now();
    else this.timer = setTimeout(() => this.#now(), wait);
  }

  #now() {
    this.#end();
    let ended = false;
    const stop = inSlices(this.#steps(this.options()), (show, ms) => {
      ended = true;
      this.stop = null;
      this.computedAt = performance.now();
      this.duration = ms;
      show();
      if (this.changed) this.#soon();
    });
    if (!ended) this.stop = stop;
  }

  #end() {
    clearTimeout(this.timer);
    this.stop?.();
    this.timer = undefined;
    this.stop = null;
    this.changed = false;
  }

  /** Return a function that shows the result. @param {ViewOptions} options @returns {Generator<void, () => void, void>} */
  *#steps({ terms, sort, problems, wide, namespaced, namespaces }) {
    const definitions = this.store.columns.peek();
    const all = listColumns(definitions, { namespaced, wide: true });
    const health = healthWith(definitions);
    const nowMs = now.peek();
    const healthOf = (/** @type {import("../table/store.js").Row} */ row) => health(row, nowMs);
    const stored = [...this.store.rows.values()];
    const before = this.judged.definitions === definitions && Math.abs(nowMs - this.judged.at) < TIME_MS ? this.judged : null;
    const judged = { definitions, at: before?.at ?? nowMs, problems: new Map() };
    const isProblem = (/** @type {import("../table/store.js").Row} */ row) => {
      const found = before?.problems.get(row) ?? healthOf(row).problem !== null;
      judged.problems.set(row, found);
      return found;
    };
    /** @type {import("../table/store.js").Row[]} */
    const found = [];
    let [total, troubled, stoppedAfter, matched, budget] = [0, 0, 0, 0, BUDGET_MS];
    for (let i = 0; i < stored.length; i += STEP) {
      const step = stored.slice(i, i + STEP).filter((row) => !namespaces || namespaces.has(row.metadata.namespace ?? ""));
      const bad = step.filter(isProblem);
      total += step.length;
      troubled += bad.length;
      if (budget <= 0) stoppedAfter ||= matched;
      if (!stoppedAfter) {
        const [began, rows] = [performance.now(), problems ? bad : step];
        const part = matching(rows, terms, { columns: all, healthOf, now: nowMs }, budget);
        found.push(...part.rows);
        budget -= performance.now() - began;
        if (part.stoppedAfter) stoppedAfter = matched + part.stoppedAfter;
        matched += rows.length;
      }
      yield;
    }
    const sorted = yield* sortRows(found, all, sort);
    return () =>
      batch(() => {
        this.health = health;
        this.judged = judged;
        this.columns.value = sameColumns(this.columns.peek(), wide ? all : all.filter((each) => !each.wide));
        this.total.value = total;
        this.problemCount.value = troubled;
        this.stoppedAfter.value = stoppedAfter;
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

