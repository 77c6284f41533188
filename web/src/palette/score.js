/** Fuzzy match: letters in order; better at the beginning of words and next to each other. */

/**
 * Return how well a text matches; 0: not at all.
 * @param {string} text
 * @param {string} wanted in lower case
 */
export function score(text, wanted) {
  if (wanted === "") return 1;
  const lower = text.toLowerCase();
  if (lower === wanted) return 1000;
  if (lower.startsWith(wanted)) return 800 - lower.length;
  const at = lower.indexOf(wanted);
  if (at >= 0) return 600 - at - lower.length / 10;
  let points = 0;
  let position = -1;
  for (const letter of wanted) {
    const next = lower.indexOf(letter, position + 1);
    if (next < 0) return 0;
    const starts = next === 0 || /[^a-z0-9]/.test(lower[next - 1]) || (/[A-Z]/.test(text[next]) && /[a-z]/.test(text[next - 1]));
    points += next === position + 1 ? 8 : starts ? 6 : 1;
    position = next;
  }
  return Math.max(1, points * 10 - lower.length);
}

/**
 * Return the best entries.
 * @template T
 * @param {Iterable<T>} entries
 * @param {(entry: T) => number} points
 * @param {number} max
 * @returns {T[]}
 */
export function best(entries, points, max) {
  /** @type {{ entry: T, value: number }[]} */
  const found = [];
  for (const entry of entries) {
    const value = points(entry);
    if (value <= 0) continue;
    if (found.length === max && value <= found[max - 1].value) continue;
    let at = found.length;
    while (at > 0 && found[at - 1].value < value) at--;
    found.splice(at, 0, { entry, value });
    if (found.length > max) found.pop();
  }
  return found.map((each) => each.entry);
}
