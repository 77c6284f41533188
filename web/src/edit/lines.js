/** Lines of texts, and their differences. */

/**
 * Return the number of the line at a place, from 1.
 * @param {string} text
 * @param {number} at
 */
export function lineAt(text, at) {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** Bound of the work of a comparison; beyond it, the rest counts as replaced. */
const STEPS_MAX = 4_000_000;

/**
 * Return for each line of `after` the index of the same line of `before`, or -1. Indexes rise.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {number[]}
 */
export function matchLines(before, after) {
  const found = new Array(after.length).fill(-1);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) found[start] = start++;
  let a = before.length;
  let b = after.length;
  while (a > start && b > start && before[a - 1] === after[b - 1]) found[--b] = --a;
  if ((a - start) * (b - start) > STEPS_MAX) return found;
  const width = b - start + 1;
  // Lengths of the longest common subsequences of the ends.
  const lengths = new Uint32Array((a - start + 1) * width);
  for (let i = a - 1; i >= start; i--) {
    for (let j = b - 1; j >= start; j--) {
      const at = (i - start) * width + (j - start);
      lengths[at] = before[i] === after[j] ? lengths[at + width + 1] + 1 : Math.max(lengths[at + width], lengths[at + 1]);
    }
  }
  for (let i = start, j = start; i < a && j < b; ) {
    const at = (i - start) * width + (j - start);
    if (before[i] === after[j]) found[j++] = i++;
    else if (lengths[at + width] >= lengths[at + 1]) i++;
    else j++;
  }
  return found;
}

/**
 * @typedef {{ texts: (string | null)[], lines: (number | null)[] }} Row
 * Row of a comparison: a line of each text, or null. The last text is the one that the others are compared with.
 */

/**
 * Return the rows of texts next to the last one of them.
 * @param {string[][]} texts
 * @returns {Row[]}
 */
export function align(texts) {
  const last = /** @type {string[]} */ (texts.at(-1));
  const columns = texts.slice(0, -1).map((lines) => column(lines, last));
  /** @type {Row[]} */
  const rows = [];
  for (let j = 0; j <= last.length; j++) {
    const extra = Math.max(0, ...columns.map(({ extras }) => extras[j].length));
    for (let k = 0; k < extra; k++) {
      const lines = [...columns.map(({ extras }) => extras[j][k] ?? null), null];
      rows.push({ lines, texts: lines.map((line, i) => (line === null ? null : texts[i][line])) });
    }
    if (j === last.length) break;
    const lines = [...columns.map(({ beside }) => beside[j]), j];
    rows.push({ lines, texts: lines.map((line, i) => (line === null ? null : texts[i][line])) });
  }
  return rows;
}

/**
 * Return for each line of `after` the line of `before` that is beside it, and the lines that come before it.
 * @param {string[]} before
 * @param {string[]} after
 */
function column(before, after) {
  const matches = matchLines(before, after);
  /** @type {(number | null)[]} */
  const beside = new Array(after.length).fill(null);
  /** @type {number[][]} */
  const extras = Array.from({ length: after.length + 1 }, () => []);
  let next = 0;
  let from = 0;
  for (let j = 0; j <= after.length; j++) {
    const match = j < after.length ? matches[j] : before.length;
    if (match === -1) continue;
    // Lines of `before` that have no equal stand beside those of `after` that have none, in order.
    for (let k = from; k < j && next < match; k++) beside[k] = next++;
    while (next < match) extras[j].push(next++);
    if (j < after.length) beside[j] = next++;
    from = j + 1;
  }
  return { beside, extras };
}
