/** Pieces of a line of YAML with their type, for colours. */

const KEY = /^(\s*(?:- )*)("(?:[^"\\]|\\.)*"|[^\s#"'][^:]*|'[^']*')(:)(?=\s|$)(.*)$/s;
const NUMBER = /^[+-]?\d[\d_.]*(e[+-]?\d+)?$/i;

/**
 * Return pairs of a type (key, string, number, word, dash or "" ) and a text.
 * @param {string} line
 * @returns {[string, string][]}
 */
export function piecesOf(line) {
  const pair = KEY.exec(line);
  if (pair) {
    const [, before, key, colon, value] = pair;
    return [["dash", before], ["key", key], ["dash", colon], ...valuePieces(value)];
  }
  const item = /^(\s*(?:- )+)(.*)$/s.exec(line);
  return item ? [["dash", item[1]], ...valuePieces(item[2])] : [["string", line]];
}

/**
 * @param {string} text
 * @returns {[string, string][]}
 */
function valuePieces(text) {
  const value = text.trim();
  if (value === "") return [["", text]];
  if (NUMBER.test(value)) return [["number", text]];
  if (value === "true" || value === "false" || value === "null") return [["word", text]];
  if (/^([|>][+-]?|\{\}|\[\])$/.test(value)) return [["dash", text]];
  return [["string", text]];
}
