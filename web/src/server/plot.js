/** Geometry of a chart: ticks of the values, and the path of a line. */

const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Return round values from 0 to at least `max`, with at most `count` steps between them.
 * @param {number} max
 * @param {number} count
 */
export function ticksUpTo(max, count) {
  const raw = (max > 0 ? max : 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * /** @type {number} */ (STEPS.find((each) => each * power >= raw * (1 - 1e-9)));
  const steps = Math.max(1, Math.ceil((max > 0 ? max : 1) / step - 1e-9));
  return Array.from({ length: steps + 1 }, (_, i) => i * step);
}

/**
 * Return the path of a line. It has a gap where there is no value; a value between two gaps is a dot.
 * @param {number[]} times rising
 * @param {(number | null)[]} values
 * @param {number} top value at the upper edge
 * @param {number} width
 * @param {number} height
 */
export function linePath(times, values, top, width, height) {
  const span = times[times.length - 1] - times[0] || 1;
  let path = "";
  let drawing = false;
  values.forEach((value, i) => {
    if (value === null) {
      drawing = false;
      return;
    }
    const x = rounded(((times[i] - times[0]) / span) * width);
    const y = rounded(height * (1 - value / top));
    path += drawing ? `L${x} ${y}` : `M${x} ${y}h0`;
    drawing = true;
  });
  return path;
}

/** @param {number} value */
function rounded(value) {
  return Math.round(value * 10) / 10;
}
