/** `Recorder`: the last 15 minutes of the charts, from readings of the metrics. */
import { signal } from "@preact/signals";
import { CHARTS } from "./measures.js";

const SAMPLES_MAX = 180;
const LINES_MAX = 6;
const CANDIDATES_MAX = 200;

/** @typedef {{ title: string, values: (number | null)[] }} Line `values` belong to the times; null where the line has none */
/** @typedef {{ times: number[], lines: Map<string, Line[]> }} Recorded `lines` by chart, the largest first */

export class Recorder {
  constructor() {
    /** @type {import("./measures.js").Reading | null} */
    this.before = null;
    /** @type {number[]} */
    this.times = [];
    /** Values of each line of each chart. @type {Map<string, Map<string, (number | null)[]>>} */
    this.series = new Map(CHARTS.map(({ id }) => [id, new Map()]));
    /** @type {import("@preact/signals").Signal<Recorded>} */
    this.recorded = signal({ times: [], lines: new Map() });
  }

  /**
   * Add a reading. The first one only begins the rates.
   * @param {import("./measures.js").Reading} now
   */
  add(now) {
    const before = this.before;
    this.before = now;
    if (!before || now.at <= before.at) return;
    this.times.push(now.at);
    for (const chart of CHARTS) this.#extend(/** @type {any} */ (this.series.get(chart.id)), chart.values(now, before));
    if (this.times.length > SAMPLES_MAX) this.times.shift();
    this.recorded.value = { times: [...this.times], lines: new Map([...this.series].map(([id, lines]) => [id, largest(lines)])) };
  }

  /**
   * @param {Map<string, (number | null)[]>} lines
   * @param {import("./measures.js").Values} values
   */
  #extend(lines, values) {
    const length = this.times.length;
    for (const title of values.keys()) {
      if (!lines.has(title) && lines.size < CANDIDATES_MAX) lines.set(title, Array(length - 1).fill(null));
    }
    for (const [title, line] of lines) {
      const value = values.get(title);
      line.push(value === undefined || Number.isNaN(value) ? null : value);
      if (length > SAMPLES_MAX) line.shift();
      if (line.every((each) => each === null)) lines.delete(title);
    }
  }
}

/**
 * Return the lines with the largest sums; equal ones by name.
 * @param {Map<string, (number | null)[]>} lines
 * @returns {Line[]}
 */
function largest(lines) {
  const sum = (/** @type {(number | null)[]} */ values) => values.reduce((/** @type {number} */ all, each) => all + (each ?? 0), 0);
  const sorted = [...lines].map(([title, values]) => ({ title, values: [...values], sum: sum(values) }));
  sorted.sort((a, b) => b.sum - a.sum || (a.title < b.title ? -1 : 1));
  return sorted.slice(0, LINES_MAX).map(({ title, values }) => ({ title, values }));
}
