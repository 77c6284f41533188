/** Places of problems in the text of a manifest. */
import { follow } from "./field_paths.js";
import { placeOf } from "./manifest.js";

/**
 * @typedef {{ from: number, to: number, severity: "error" | "warning", message: string }} Mark
 */

/**
 * Return the marks of the problems of a document.
 * @param {import("./manifest.js").Part} part
 * @param {import("./problems.js").Problem[]} problems
 * @returns {Mark[]}
 */
export function marksOf({ document, value }, problems) {
  return problems.map(({ message, severity, steps }) => ({ ...placeOf(document, pathFor(value, steps)), severity, message })).sort((a, b) => a.from - b.from);
}

/**
 * Return the path of a problem as far as the manifest has it. Messages of Go's decoder leave out the indexes of lists.
 * @param {any} value
 * @param {import("./field_paths.js").Step[] | null} steps
 */
function pathFor(value, steps) {
  if (!steps) return ["kind"];
  const found = follow(value, steps);
  if (found.whole) return found.path;
  const searched = search(value, steps);
  return searched ?? found.path;
}

/**
 * @param {any} value
 * @param {import("./field_paths.js").Step[]} steps
 * @returns {import("./field_paths.js").Path | null}
 */
function search(value, steps) {
  if (steps.length === 0) return [];
  if (Array.isArray(value) && typeof steps[0] === "string") {
    for (let i = 0; i < value.length; i++) {
      const inner = search(value[i], steps);
      if (inner) return [i, ...inner];
    }
    return null;
  }
  const [key, ...rest] = steps;
  if (value === null || typeof value !== "object" || typeof key === "object" || !Object.hasOwn(value, key)) return null;
  const inner = search(value[key], rest);
  return inner && [key, ...inner];
}
