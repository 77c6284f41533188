/** Levels of health in their order, the worst first. */

/** @type {import("../health/row_health.js").Level[]} */
export const LEVELS = ["bad", "warn", "progress", "good", "neutral"];

/** @param {import("../health/row_health.js").Level} level */
export function rank(level) {
  return LEVELS.indexOf(level);
}
