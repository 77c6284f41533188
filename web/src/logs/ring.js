/** `LogRing`: the newest lines of all containers, in the order of their times. */

export const LINES_MAX = 100_000;
/** Characters of all lines together. */
export const CHARACTERS_MAX = 48_000_000;

/** @typedef {import("./line.js").Line} Line */

export class LogRing {
  /**
   * @param {number} [linesMax]
   * @param {number} [charactersMax]
   */
  constructor(linesMax = LINES_MAX, charactersMax = CHARACTERS_MAX) {
    this.linesMax = linesMax;
    this.charactersMax = charactersMax;
    /** @type {Line[]} */
    this.lines = [];
    this.start = 0;
    this.characters = 0;
    /** Number of lines that were dropped because newer ones came. */
    this.dropped = 0;
  }

  get length() {
    return this.lines.length - this.start;
  }

  /** @param {number} index */
  at(index) {
    return this.lines[this.start + index];
  }

  /**
   * Add lines. Return what changed: all lines that are newer than `since`.
   * @param {Line[]} batch at least one
   * @returns {{ since: string, lines: Line[] }}
   */
  add(batch) {
    batch.sort(byKey);
    const since = batch[0].key;
    const at = this.#place(since);
    const moved = this.lines.splice(at);
    const added = moved.length ? merged(moved, batch) : batch;
    for (const line of added) this.lines.push(line);
    for (const line of batch) this.characters += line.text.length;
    this.#drop();
    return { since, lines: added };
  }

  /**
   * Return the index of the first line that is newer than a key.
   * @param {string} key
   */
  #place(key) {
    let low = this.start;
    let high = this.lines.length;
    if (high > low && this.lines[high - 1].key <= key) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lines[middle].key <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #drop() {
    while (this.length > this.linesMax || (this.characters > this.charactersMax && this.length > 1)) {
      const line = this.lines[this.start++];
      line.dropped = true;
      this.characters -= line.text.length;
      this.dropped++;
    }
    if (this.start > this.linesMax / 4) {
      this.lines = this.lines.slice(this.start);
      this.start = 0;
    }
  }
}

/**
 * @param {Line} a
 * @param {Line} b
 */
function byKey(a, b) {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/**
 * Merge two ordered lists. Of equal times, those of the first list come first.
 * @param {Line[]} first
 * @param {Line[]} second
 */
function merged(first, second) {
  const all = [];
  let i = 0;
  let j = 0;
  while (i < first.length && j < second.length) all.push(first[i].key <= second[j].key ? first[i++] : second[j++]);
  while (i < first.length) all.push(first[i++]);
  while (j < second.length) all.push(second[j++]);
  return all;
}
