/** Heights of lines: a line has one row, or as many as its text needs if it wraps, and those of its unfolded object. */

import { plainText } from "./ansi.js";

/** Height of a row in pixels; the style sheet has the same. */
export const ROW_HEIGHT = 20;
/** Characters of a line that are shown. */
export const SHOWN_MAX = 4000;
const TAB = 4;
/** Codes of characters with two columns. */
const WIDE = [[0x1100, 0x115f], [0x2e80, 0xa4cf], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe30, 0xfe6f], [0xff00, 0xff60]];

/** @typedef {import("./line.js").Line} Line */

/**
 * Return the width of a text in columns: characters of East Asian scripts and pictures have two.
 * @param {string} given
 */
export function columnsOf(given) {
  const text = plainText(given);
  const length = Math.min(text.length, SHOWN_MAX);
  if (/^[\x20-\x7e]*$/.test(text)) return length;
  let columns = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 9) columns += TAB;
    else if (code < 0x1100 || (code >= 0xd800 && code <= 0xdfff)) columns += 1;
    else columns += WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
  }
  return columns;
}

/**
 * Rows above each line; the last value is the number of all rows.
 * @param {{ length: number, at: (index: number) => Line }} lines
 * @param {(line: Line) => number} rowsOf
 */
export function rowsAbove(lines, rowsOf) {
  const above = new Uint32Array(lines.length + 1);
  for (let i = 0; i < lines.length; i++) above[i + 1] = above[i] + rowsOf(lines.at(i));
  return above;
}

/**
 * Return the index of the line at a row.
 * @param {Uint32Array} above
 * @param {number} row
 */
export function lineAt(above, row) {
  let low = 0;
  let high = Math.max(0, above.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (above[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}
