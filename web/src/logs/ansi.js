/** Colours of ANSI escape sequences in a line. All other sequences are dropped: a log is data, it sets no title, link or clipboard. */
import { visible } from "../transport/errors.js";

/** @typedef {{ text: string, style: string }} Piece `style`: names of CSS classes, or empty. */

// In this order: CSI, strings up to their end (OSC, DCS, SOS, PM, APC), other sequences, and the forms of one character.
const SEQUENCE = /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~]?)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)?|\u001b[ -/]*[0-~]?|[\u0080-\u009f]/g;
const ESCAPE = /[\u001b\u0080-\u009f]/;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/**
 * Return a line without sequences.
 * @param {string} text
 */
export function plainText(text) {
  return ESCAPE.test(text) ? text.replace(SEQUENCE, "") : text;
}

/**
 * Return the pieces of a line, each with its style. Styles end with the line.
 * @param {string} text
 * @returns {Piece[]}
 */
export function piecesOf(text) {
  if (!ESCAPE.test(text)) return text ? [{ text: shown(text), style: "" }] : [];
  /** @type {Piece[]} */
  const pieces = [];
  const state = new Style();
  let at = 0;
  const add = (/** @type {string} */ part) => part && pieces.push({ text: shown(part), style: state.classes() });
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") state.apply(match[1]);
  }
  add(text.slice(at));
  return pieces;
}

/**
 * Return a text with a mark for each control character.
 * @param {string} text
 */
export function shown(text) {
  return visible(text.endsWith("\r") ? text.slice(0, -1) : text);
}

class Style {
  colour = "";
  background = "";
  /** @type {Set<string>} */
  marks = new Set();

  #reset() {
    this.colour = "";
    this.background = "";
    this.marks.clear();
  }

  classes() {
    return [this.colour && `a-${this.colour}`, this.background && `b-${this.background}`, ...this.marks].filter(Boolean).join(" ");
  }

  /** @param {string} parameters */
  apply(parameters) {
    const codes = parameters.split(/[;:]/).map(Number);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i];
      if (code === 38 || code === 48) {
        const [colour, used] = extended(codes.slice(i + 1, i + 5));
        if (code === 38) this.colour = colour;
        else this.background = colour;
        i += used;
      } else this.#one(code);
    }
  }

  /** @param {number} code */
  #one(code) {
    if (code === 0 || Number.isNaN(code)) this.#reset();
    else if (code === 1) this.marks.add("a-bold");
    else if (code === 2) this.marks.add("a-dim");
    else if (code === 3) this.marks.add("a-italic");
    else if (code === 4) this.marks.add("a-underline");
    else if (code === 9) this.marks.add("a-strike");
    else if (code === 22) ["a-bold", "a-dim"].forEach((each) => this.marks.delete(each));
    else if (code === 23) this.marks.delete("a-italic");
    else if (code === 24) this.marks.delete("a-underline");
    else if (code === 29) this.marks.delete("a-strike");
    else if (code === 39) this.colour = "";
    else if (code === 49) this.background = "";
    else if (code % 10 < 8 && [3, 9].includes(Math.floor(code / 10))) this.colour = COLOURS[code % 10];
    else if (code % 10 < 8 && [4, 10].includes(Math.floor(code / 10))) this.background = COLOURS[code % 10];
  }
}

/**
 * Return the nearest of the eight colours for the rest of a sequence 38 or 48, and the number of codes that it used.
 * @param {number[]} rest
 * @returns {[string, number]}
 */
function extended([form, first, second, third]) {
  if (form === 2) return [nearest(first, second, third), 4];
  if (form !== 5) return ["", 1];
  if (first < 16) return [COLOURS[first % 8] ?? "", 2];
  if (first >= 232) return [nearest(...grey((first - 232) * 10 + 8)), 2];
  const cube = first - 16;
  return [nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51), 2];
}

/**
 * @param {number} value
 * @returns {[number, number, number]}
 */
function grey(value) {
  return [value, value, value];
}

/**
 * @param {number} red
 * @param {number} green
 * @param {number} blue
 */
function nearest(red, green, blue) {
  const half = (Math.max(red, green, blue) + Math.min(red, green, blue)) / 2;
  if (Math.max(red, green, blue) - Math.min(red, green, blue) < 24) return half < 96 ? "black" : "white";
  return COLOURS[(red > half ? 1 : 0) | (green > half ? 2 : 0) | (blue > half ? 4 : 0)];
}
