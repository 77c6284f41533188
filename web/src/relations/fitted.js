/** Texts that fit into a node of the graph. SVG does not shorten text by itself. */

/** @type {CanvasRenderingContext2D | null} */
let context = null;

/**
 * Return a text without its middle, if it is wider than a width: the ends of names tell objects apart.
 * @param {string} text
 * @param {number} width in pixels
 * @param {string} font size and weight, as in CSS
 */
export function fitted(text, width, font) {
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text;
  context.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  let shown = text;
  // Each round removes what is too wide, and at least one letter.
  for (let most = text.length; most > 4; ) {
    const present = context.measureText(shown).width;
    if (present <= width) break;
    most = Math.min(most - 1, Math.ceil(most * (width / present)));
    shown = `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(-Math.floor(most / 2))}`;
  }
  return shown;
}
