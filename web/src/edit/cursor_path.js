/** Field at a place of a YAML text that may be incomplete: its path comes from the indentation of the lines. */

/**
 * @typedef {{ spaces: number, dashes: number, column: number, key: string | null, value: string, colon: boolean }} Line
 * `column` is where the key begins.
 * @typedef {{ path: (string | number)[], prefix: string, from: number, column: number, value: boolean, siblings: Set<string> }} Place
 * `path` leads to the object with the key, or for a `value` to the field. `from` is the column where `prefix` begins.
 */

const LINE = /^( *)((?:- +)*)(?:("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:][^:#]*?)(:)(?: +(.*))?|(.*))$/;

/**
 * @param {string} text
 * @returns {Line}
 */
export function lineOf(text) {
  const [, spaces = "", dashes = "", key, colon, value = "", rest = ""] = LINE.exec(text) ?? [];
  return { spaces: spaces.length, dashes: (dashes.match(/-/g) ?? []).length, column: spaces.length + dashes.length, key: key === undefined ? null : unquoted(key), value: key === undefined ? rest : value, colon: colon !== undefined };
}

/** @param {string} key */
function unquoted(key) {
  return /^["'].*["']$/.test(key) ? key.slice(1, -1) : key;
}

/**
 * Return what is at a place. `at` is the index of the line, `column` that of the cursor.
 * @param {string[]} lines
 * @param {number} at
 * @param {number} column
 * @returns {Place | null}
 */
export function placeAt(lines, at, column) {
  const before = lines[at].slice(0, column);
  if (/(^|\s)#/.test(before) || before.startsWith("---")) return null;
  const line = lineOf(before);
  const path = [...pathAbove(lines, at, line), ...(line.key === null ? [] : [line.key])];
  if (line.key === null && /\s/.test(line.value)) return null;
  const prefix = line.value;
  return { path, prefix, from: column - prefix.length, column: line.column, value: line.key !== null, siblings: siblingsOf(lines, at, line) };
}

/**
 * Return the path of the object or list in which a line is.
 * @param {string[]} lines
 * @param {number} at
 * @param {Line} line
 */
export function pathAbove(lines, at, line) {
  /** @type {(string | number)[]} */
  const path = [];
  let limit = line.column;
  if (line.dashes > 0) {
    path.unshift(...new Array(line.dashes).fill(0));
    limit = line.spaces + 1;
  }
  for (let i = at - 1; i >= 0 && limit > 0 && !lines[i].startsWith("---"); i--) {
    const above = lineOf(lines[i]);
    if (above.key === null || lines[i].trimStart().startsWith("#")) continue;
    if (above.dashes > 0 && above.column === limit && limit > above.spaces) {
      path.unshift(...new Array(above.dashes).fill(0));
      limit = above.spaces + 1;
    } else if (above.column < limit) {
      path.unshift(above.key);
      if (above.dashes > 0) path.unshift(...new Array(above.dashes).fill(0));
      limit = above.dashes > 0 ? above.spaces + 1 : above.column;
    }
  }
  return path;
}

/** @param {string[]} lines @param {number} at @param {Line} of */
function siblingsOf(lines, at, { column, dashes }) {
  const found = new Set();
  for (const step of dashes > 0 ? [1] : [-1, 1]) {
    for (let i = at + step; i >= 0 && i < lines.length; i += step) {
      const line = lineOf(lines[i]);
      if (lines[i].trim() === "" || line.key === null) continue;
      if (line.column < column || (step === 1 && line.dashes > 0 && line.column === column)) break;
      if (line.column !== column) continue;
      found.add(line.key);
      if (step === -1 && line.dashes > 0) break;
    }
  }
  return found;
}
