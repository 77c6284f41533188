/** Values of cells as sort keys: ages, quantities, fractions, versions and text, so that 10Mi comes before 1Gi. */

/** @type {Record<string, number>} */
const FACTORS = {
  n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};
/** @type {Record<string, number>} */
const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400, y: 365 * 86400 };

const NUMBER = /^[+-]?\d+(\.\d+)?$/;
const QUANTITY = /^([+-]?\d+(?:\.\d+)?)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)$/;
const DURATION = /^(\d+(?:\.\d+)?(?:ms|[smhdy]))+$/;
const FRACTION = /^(\d+)\/(\d+)$/;
const EMPTY = new Set(["", "<none>", "<unknown>", "<unset>", "<nil>", "None"]);
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * Return the seconds of a duration such as `3d4h`; NaN if it is none.
 * @param {string} text
 */
export function durationSeconds(text) {
  if (!DURATION.test(text)) return NaN;
  let sum = 0;
  for (const [, value, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdy])/g)) sum += Number(value) * SECONDS[unit];
  return sum;
}

/**
 * Return the number of a text: of a number, quantity, duration or fraction; NaN if it is none. `durations`: `5m` is
 * five minutes, not five thousandths.
 * @param {string} text
 * @param {boolean} durations
 */
export function numberOf(text, durations) {
  if (NUMBER.test(text)) return Number(text);
  const fraction = FRACTION.exec(text);
  if (fraction) return Number(fraction[2]) === 0 ? 0 : Number(fraction[1]) / Number(fraction[2]) + Number(fraction[2]) * 1e-9;
  if (durations) return durationSeconds(text);
  const quantity = QUANTITY.exec(text);
  if (quantity) return Number(quantity[1]) * FACTORS[quantity[2]];
  return durationSeconds(text);
}

/** @typedef {{ empty: boolean, number: number, text: string }} SortKey */

/**
 * Return the sort key of a cell.
 * @param {unknown} cell
 * @param {boolean} durations
 * @returns {SortKey}
 */
export function sortKey(cell, durations) {
  if (typeof cell === "number") return { empty: false, number: cell, text: "" };
  const text = cellText(cell);
  // Restarts have an age behind them: `3 (5m ago)`.
  const plain = text.replace(/ \(.*\)$/, "");
  return { empty: EMPTY.has(text), number: numberOf(plain, durations), text };
}

/**
 * Compare two keys. Empty ones are last, numbers are before texts.
 * @param {SortKey} a
 * @param {SortKey} b
 */
export function compareKeys(a, b) {
  if (a.empty || b.empty) return Number(a.empty) - Number(b.empty);
  const aIsText = Number.isNaN(a.number);
  const bIsText = Number.isNaN(b.number);
  if (aIsText !== bIsText) return aIsText ? 1 : -1;
  return aIsText ? collator.compare(a.text, b.text) : a.number - b.number;
}

/**
 * Return a cell as text.
 * @param {unknown} cell
 */
export function cellText(cell) {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
