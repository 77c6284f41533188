/** `Matcher`: the lines that the filter selects, and where they match. */
import { refusal } from "../filter/safe_regex.js";
import { plainText } from "./ansi.js";

/** Characters of a line that a regular expression examines: an expression may take quadratic time. */
const EXAMINED = 2000;
const RANGES_MAX = 50;

/** @typedef {import("./line.js").Line} Line */

export class Matcher {
  /**
   * @param {{ text: string, level: number }} filter `text`: words, or `/expression/`; `level`: the lowest one, -1 for all
   */
  constructor({ text, level }) {
    this.level = level;
    this.words = "";
    /** @type {RegExp | null} */
    this.expression = null;
    /** Key of a text that says what is wrong with the filter; empty if it is right. */
    this.error = "";
    const pattern = /^\/(.+)\/$/.exec(text)?.[1];
    if (pattern === undefined) this.words = text.toLowerCase();
    else this.#compile(pattern);
  }

  /** @param {string} pattern */
  #compile(pattern) {
    try {
      if (refusal(pattern)) this.error = "filter.error.regex_slow";
      else this.expression = new RegExp(pattern, "gi");
    } catch {
      this.error = "filter.error.regex";
    }
  }

  /** Return whether the filter has a text, which is highlighted. */
  get hasText() {
    return this.words !== "" || this.expression !== null;
  }

  /**
   * Return whether the text matches.
   * @param {Line} line
   */
  matches(line) {
    if (line.event) return true;
    if (!this.hasText) return true;
    if (this.expression) return this.#search(plainText(line.text)) >= 0;
    return plainText(line.text).toLowerCase().includes(this.words);
  }

  /** @param {Line} line */
  hasLevel(line) {
    return line.event || line.level >= this.level;
  }

  /** @param {string} text */
  #search(text) {
    const expression = /** @type {RegExp} */ (this.expression);
    expression.lastIndex = 0;
    return text.slice(0, EXAMINED).search(expression);
  }

  /**
   * Return where a text matches: begins and ends.
   * @param {string} text
   * @returns {[number, number][]}
   */
  ranges(text) {
    /** @type {[number, number][]} */
    const found = [];
    if (this.expression) {
      for (const match of text.slice(0, EXAMINED).matchAll(this.expression)) {
        if (match[0]) found.push([match.index, match.index + match[0].length]);
        if (found.length === RANGES_MAX) break;
      }
    } else if (this.words) {
      const lower = text.toLowerCase();
      for (let at = lower.indexOf(this.words); at >= 0 && found.length < RANGES_MAX; at = lower.indexOf(this.words, at + this.words.length)) {
        found.push([at, at + this.words.length]);
      }
    }
    return found;
  }
}

/**
 * Split pieces at the places that match.
 * @param {import("./ansi.js").Piece[]} pieces
 * @param {[number, number][]} ranges
 * @returns {{ text: string, style: string, hit: boolean }[]}
 */
export function marked(pieces, ranges) {
  const found = [];
  let at = 0;
  for (const { text, style } of pieces) {
    let done = 0;
    for (const [begin, end] of ranges) {
      const from = Math.max(begin - at, done);
      const to = Math.min(end - at, text.length);
      if (from >= to) continue;
      if (from > done) found.push({ text: text.slice(done, from), style, hit: false });
      found.push({ text: text.slice(from, to), style, hit: true });
      done = to;
    }
    if (done < text.length) found.push({ text: text.slice(done), style, hit: false });
    at += text.length;
  }
  return found;
}
