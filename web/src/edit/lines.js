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
