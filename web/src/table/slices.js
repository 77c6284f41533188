/** Long calculations in slices, so that the page stays responsive: a calculation is a generator that yields between its steps. */

/** Time in milliseconds of the first slice: most calculations end in it. */
const FIRST_MS = 40;
const NEXT_MS = 12;
/** Items of a step. */
export const STEP = 2000;

/**
 * Calculate. A short calculation is done when this function returns.
 * @template T
 * @param {Generator<void, T, void>} steps
 * @param {(result: T, ms: number) => void} done `ms`: time that the calculation took, without pauses
 * @returns {() => void} ends the calculation
 */
export function inSlices(steps, done) {
  let spent = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const run = (/** @type {number} */ budget) => {
    const began = performance.now();
    let step = steps.next();
    while (!step.done && performance.now() - began < budget) step = steps.next();
    spent += performance.now() - began;
    if (step.done) done(step.value, spent);
    else timer = setTimeout(() => run(NEXT_MS));
  };
  run(FIRST_MS);
  return () => clearTimeout(timer);
}

/**
 * Return the items in order. Equal ones keep theirs.
 * @template T
 * @param {T[]} items
 * @param {(a: T, b: T) => number} compare
 * @returns {Generator<void, T[], void>}
 */
export function* sortSteps(items, compare) {
  /** @type {T[][]} */
  let runs = [];
  for (let i = 0; i < items.length; i += STEP) {
    runs.push(items.slice(i, i + STEP).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(i + 1 < runs.length ? yield* merged(runs[i], runs[i + 1], compare) : runs[i]);
    runs = longer;
  }
  return runs[0] ?? [];
}

/**
 * @template T
 * @param {T[]} first
 * @param {T[]} second
 * @param {(a: T, b: T) => number} compare
 * @returns {Generator<void, T[], void>}
 */
function* merged(first, second, compare) {
  if (compare(first[first.length - 1], second[0]) <= 0) return first.concat(second);
  const all = [];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    all.push(compare(second[j], first[i]) < 0 ? second[j++] : first[i++]);
    if (all.length % STEP === 0) yield;
  }
  return all.concat(first.slice(i), second.slice(j));
}
