/** Figures of controllers: order, durations and rates, without the page. */

/** @typedef {{ depth: number, waiting?: number, processing: number, oldestSeconds?: number | null }} Queue */
/**
 * @typedef {{ name: string, resource?: string, workers?: number, active?: number, queue: Queue, perSecond?: number,
 *   errorsPerSecond?: number, total: number, errors?: number, objects?: number, failing?: number }} Controller
 */

/**
 * Return controllers with failing ones first, then those with work, then the busiest.
 * @param {Controller[]} controllers
 */
export function ordered(controllers) {
  const weight = (/** @type {Controller} */ each) => [each.failing ?? 0, each.queue.depth + each.queue.processing, each.perSecond ?? 0, each.total ? 1 : 0];
  return [...controllers].sort((one, other) => {
    const [left, right] = [weight(one), weight(other)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? one.name.localeCompare(other.name) : right[at] - left[at];
  });
}

/**
 * Return whether a controller has reconciled or has work.
 * @param {Controller} controller
 */
export function isUsed({ total, queue }) {
  return total > 0 || queue.depth > 0 || (queue.waiting ?? 0) > 0 || queue.processing > 0;
}

/**
 * Return a short duration with three digits at most: `4 ms`, `1.25 s`, `3m20s`.
 * @param {number} seconds
 */
export function shortDuration(seconds) {
  if (seconds < 0.001) return seconds > 0 ? "< 1 ms" : "0 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${trimmed(seconds, 2)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/**
 * Return a rate per minute, with few digits.
 * @param {number} perSecond
 */
export function perMinute(perSecond) {
  const rate = perSecond * 60;
  return rate >= 10 || rate === 0 ? String(Math.round(rate)) : trimmed(rate, 1);
}

/**
 * @param {number} value
 * @param {number} digits
 */
function trimmed(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/**
 * Return the icon and the colour of a result.
 * @param {string} result
 */
export function resultLevel(result) {
  return { success: "good", "requeue-after": "progress", error: "bad", "terminal-error": "bad" }[result] ?? "neutral";
}

/**
 * Return the parts of a resource `plural.group`.
 * @param {string} resource
 */
export function resourceOf(resource) {
  const dot = resource.indexOf(".");
  return dot < 0 ? { plural: resource, group: "" } : { plural: resource.slice(0, dot), group: resource.slice(dot + 1) };
}

/**
 * Return namespace and name of a key `namespace/name`.
 * @param {string} key
 */
export function placeOf(key) {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
