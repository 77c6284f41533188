/** `Selection`: the lines of the ring that the filter selects. It follows the ring, and filters again in short steps. */

/** Milliseconds of one step, after which the page may react. */
const STEP_MS = 12;
/** Milliseconds after which a filter is given up. */
const TOTAL_MS = 4000;

/** @typedef {import("./line.js").Line} Line */

export class Selection {
  /**
   * @param {import("./ring.js").LogRing} ring
   * @param {() => void} onChange called after each step
   */
  constructor(ring, onChange) {
    this.ring = ring;
    this.onChange = onChange;
    /** @type {Line[]} */
    this.lines = [];
    this.start = 0;
    /** @type {((line: Line) => boolean) | null} */
    this.select = null;
    /** Number of lines after which a filter was given up; 0: it was not. */
    this.stoppedAfter = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** Lines that wait for the filter, from the newest to the oldest. @type {Line[]} */
    this.waiting = [];
  }

  get length() {
    return this.lines.length - this.start;
  }

  /** @param {number} index */
  at(index) {
    return this.lines[this.start + index];
  }

  /**
   * Filter all lines again.
   * @param {((line: Line) => boolean) | null} select null: all
   */
  use(select) {
    clearTimeout(this.timer);
    this.select = select;
    this.stoppedAfter = 0;
    this.start = 0;
    this.lines = [];
    this.waiting = this.ring.lines.slice(this.ring.start);
    this.#step(performance.now());
  }

  /** @param {number} began */
  #step(began) {
    const { select } = this;
    if (!select) {
      this.lines = this.waiting;
      this.waiting = [];
    } else {
      /** @type {Line[]} */
      const found = [];
      const end = performance.now() + STEP_MS;
      while (this.waiting.length && (this.waiting.length % 32 !== 0 || performance.now() < end)) {
        const line = /** @type {Line} */ (this.waiting.pop());
        if (!line.dropped && select(line)) found.push(line);
      }
      this.lines = [...found.reverse(), ...this.lines.slice(this.start)];
      this.start = 0;
      if (this.waiting.length && performance.now() - began > TOTAL_MS) {
        this.stoppedAfter = this.ring.length - this.waiting.length;
        this.waiting = [];
      }
      if (this.waiting.length) this.timer = setTimeout(() => this.#step(began));
    }
    this.onChange();
  }

  /**
   * Follow a change of the ring.
   * @param {{ since: string, lines: Line[] }} change
   * @returns {{ added: number, removed: number }} lines that were added at the end, and removed at the beginning
   */
  follow({ since, lines }) {
    const before = this.length;
    while (this.length && this.lines[this.lines.length - 1].key > since) this.lines.pop();
    if (!this.length) while (this.waiting.length && this.waiting[this.waiting.length - 1].key > since) this.waiting.pop();
    for (const line of lines) if (!line.dropped && (!this.select || this.select(line))) this.lines.push(line);
    const reached = this.length;
    while (this.length && this.lines[this.start].dropped) this.start++;
    const removed = reached - this.length;
    if (this.start > 20_000) {
      this.lines = this.lines.slice(this.start);
      this.start = 0;
    }
    return { added: reached - before, removed };
  }

  stop() {
    clearTimeout(this.timer);
  }
}
