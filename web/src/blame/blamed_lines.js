/** Lines of an object as YAML, each with the owners of its field. */
import { masked } from "../details/secret.js";
import { pathsByLine } from "../edit/comparison.js";
import { pointerOf } from "../edit/field_paths.js";
import { manifestOf } from "../edit/manifest.js";
import { namedPath } from "../history/changed_fields.js";
import { ownersAt } from "./blame.js";

/**
 * @typedef {import("./blame.js").Manager} Manager
 * @typedef {{ number: number, text: string, owners: Manager[], first: boolean, field: string, pointer: string }} BlamedLine
 * `first`: the line before has other owners. `field`: path as in the history.
 */

/**
 * Return the lines of an object.
 * @param {any} object
 * @param {import("./blame.js").Blame} blame
 * @returns {BlamedLine[]}
 */
export function blamedLines(object, blame) {
  const { managedFields: _, ...metadata } = object.metadata;
  const shown = masked({ ...object, metadata });
  const text = manifestOf(shown).trimEnd();
  const paths = pathsByLine(text);
  let before = "";
  return text.split("\n").map((line, i) => {
    const path = paths.get(i) ?? [];
    const owners = path.length ? ownersAt(blame, path) : [];
    const ids = owners.map(({ id }) => id).join("\n");
    const first = ids !== before;
    before = ids;
    return { number: i + 1, text: line, owners, first, field: namedPath(object, path), pointer: pointerOf(path) };
  });
}

/**
 * Return the lines of one manager, with the lines above that contain them.
 * @param {BlamedLine[]} lines
 * @param {string} id
 * @returns {BlamedLine[]}
 */
export function linesOf(lines, id) {
  const needed = new Set();
  for (const { owners, pointer } of lines) {
    if (!owners.some((each) => each.id === id)) continue;
    for (let at = pointer.length; at > 0; at = pointer.lastIndexOf("/", at - 1)) needed.add(pointer.slice(0, at));
  }
  let before = "";
  return lines.filter(({ pointer }) => needed.has(pointer)).map((line) => {
    const ids = line.owners.map((each) => each.id).join("\n");
    const first = ids !== before;
    before = ids;
    return { ...line, first };
  });
}
