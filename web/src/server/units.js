/** Values of charts as short texts. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const SECONDS = [[1, "s", 1], [1e-3, "ms", 1e3], [0, "µs", 1e6]];

/**
 * Return a value with its unit: `12 ms`, `3.4/s`.
 * @param {number | null | undefined} value
 * @param {import("./measures.js").Unit} unit
 */
export function valueText(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  switch (unit) {
    case "rate":
      return `${short(value)}/s`;
    case "seconds": {
      const [, name, factor] = /** @type {[number, string, number]} */ (SECONDS.find(([from]) => value >= /** @type {number} */ (from)));
      return `${short(value * factor)} ${name}`;
    }
    case "bytes":
      return humanBytes(value);
    default:
      return short(value);
  }
}

/** @param {number} value */
function short(value) {
  if (value >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (value >= 1e4) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

/** @param {number} value */
function trimmed(value) {
  return String(Number(value.toPrecision(value >= 100 ? Math.max(3, Math.ceil(Math.log10(value + 1))) : 2)));
}

/**
 * Return a size: `82 MiB`.
 * @param {number} bytes
 */
export function humanBytes(bytes) {
  const power = bytes >= 1 ? Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10)) : 0;
  const value = bytes / 1024 ** power;
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(2)} ${UNITS[power]}`;
}
