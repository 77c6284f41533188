/** `TextLines`: lines of a response in plain text, such as the log of a container. */

/** Characters of a line that are kept. The stream of the server cuts at the same size. */
export const LINE_MAX = 32_768;

/** @typedef {string | { cut: string }} TextLine A line that is too long has its beginning only. */

export class TextLines {
  constructor() {
    this.begun = "";
    this.skips = false;
  }

  /**
   * Return the lines that a chunk completes.
   * @param {string} chunk
   * @returns {TextLine[]}
   */
  feed(chunk) {
    const pieces = chunk.split("\n");
    const last = /** @type {string} */ (pieces.pop());
    /** @type {TextLine[]} */
    const found = [];
    for (const piece of pieces) {
      if (this.skips) this.skips = false;
      else found.push(lineOf(this.begun + piece));
      this.begun = "";
    }
    if (this.skips) return found;
    this.begun += last;
    if (this.begun.length > LINE_MAX) {
      found.push(lineOf(this.begun));
      this.begun = "";
      this.skips = true;
    }
    return found;
  }

  /** Return the last line, if it has no line break. */
  end() {
    const { begun } = this;
    this.begun = "";
    return begun ? [lineOf(begun)] : [];
  }
}

/**
 * @param {string} text
 * @returns {TextLine}
 */
function lineOf(text) {
  return text.length > LINE_MAX ? { cut: text.slice(0, LINE_MAX) } : text;
}
