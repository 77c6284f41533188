/** Refuses regular expressions that may take exponential time: the browser's engine backtracks. */

/** Unbounded repetitions that an expression may have. Names are short, so two of them are quick. */
const REPETITIONS_MAX = 2;

/**
 * Return whether an expression is refused: with back-references or look-around, with a repeated group that repeats or
 * has alternatives, or with many repetitions.
 * @param {string} pattern
 */
export function refusal(pattern) {
  if (/\\[1-9k]|\(\?<?[=!]/.test(pattern)) return true;
  /** @type {boolean[]} */
  const groups = [];
  let repetitions = 0;
  let closed = false;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    const repeats = /^(?:[*+]|\{\d*,?\d*\})/.exec(pattern.slice(i));
    if (repeats && !(character === "{" && i === 0)) {
      if (closed) return true;
      repetitions++;
      mark(groups);
      i += repeats[0].length - 1;
      if (pattern[i + 1] === "?") i++;
      continue;
    }
    if (character === "?" && closed) continue;
    closed = false;
    if (character === "\\") i++;
    else if (character === "[") i = classEnd(pattern, i);
    else if (character === "(") groups.push(false);
    else if (character === "|") mark(groups);
    else if (character === ")") {
      closed = groups.pop() ?? false;
      if (closed) mark(groups);
    }
  }
  return repetitions > REPETITIONS_MAX;
}

/**
 * Mark the open groups: what is in them makes their repetition costly.
 * @param {boolean[]} groups
 */
function mark(groups) {
  groups.fill(true);
}

/**
 * Return the index of the bracket that ends a class.
 * @param {string} pattern
 * @param {number} start
 */
function classEnd(pattern, start) {
  let i = start + 1;
  if (pattern[i] === "^") i++;
  if (pattern[i] === "]") i++;
  while (i < pattern.length && pattern[i] !== "]") i += pattern[i] === "\\" ? 2 : 1;
  return i;
}
