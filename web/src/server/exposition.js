/** Metrics in the text format of Prometheus. */

/** @typedef {{ labels: Record<string, string>, value: number }} Sample */
/** @typedef {Map<string, Sample[]>} Metrics samples by name; those of a histogram have the names `…_bucket`, `…_sum` and `…_count` */

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g;
const ESCAPES = /** @type {Record<string, string>} */ ({ "\\\\": "\\", '\\"': '"', "\\n": "\n" });
const NUMBERS = /** @type {Record<string, number>} */ ({ "+Inf": Infinity, "-Inf": -Infinity, NaN });

/**
 * Return the samples of the wanted metrics. Lines that are none are skipped.
 * @param {string} text
 * @param {(name: string) => boolean} wanted gets the name of a sample
 * @returns {Metrics}
 */
export function metricsOf(text, wanted) {
  /** @type {Metrics} */
  const found = new Map();
  for (const line of text.split("\n")) {
    const end = line.search(/[{ ]/);
    if (end <= 0 || line.startsWith("#") || !wanted(line.slice(0, end))) continue;
    const match = LINE.exec(line);
    if (!match) continue;
    const [, name, labels = "", number] = match;
    const samples = found.get(name) ?? [];
    if (samples.length === 0) found.set(name, samples);
    samples.push({ labels: labelsOf(labels), value: NUMBERS[number] ?? Number(number) });
  }
  return found;
}

/** @param {string} text */
function labelsOf(text) {
  /** @type {Record<string, string>} */
  const labels = Object.create(null);
  for (const [, name, value] of text.matchAll(LABEL)) labels[name] = value.replace(/\\[\\"n]/g, (each) => ESCAPES[each]);
  return labels;
}
