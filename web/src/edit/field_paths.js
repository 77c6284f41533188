/** Paths of fields: those of the server's messages, and where they lead in a manifest. */

/**
 * @typedef {(string | number)[]} Path
 * @typedef {string | number | { keys: [string, unknown][] }} Step
 * A step with `keys` selects the item of a list that has these values; an empty name selects the item itself.
 */

const STEPS_MAX = 200;

/**
 * Return the steps of a path such as `spec.containers[0].image` or `.spec.containers[name="web"].image`.
 * @param {string} text
 * @returns {Step[]}
 */
export function parsePath(text) {
  /** @type {Step[]} */
  const steps = [];
  const pattern = /\.?([^.[\]]+)|\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/gy;
  for (let match = pattern.exec(text); match && steps.length < STEPS_MAX; match = pattern.exec(text)) {
    steps.push(match[1] ?? stepIn(match[2]));
  }
  return steps;
}

/**
 * @param {string} inside
 * @returns {Step}
 */
function stepIn(inside) {
  if (/^\d+$/.test(inside)) return Number(inside);
  /** @type {[string, unknown][]} */
  const keys = [];
  const pattern = /\s*([\w.\-/]*)=("(?:[^"\\]|\\.)*"|[^,]+),?/gy;
  for (let match = pattern.exec(inside); match; match = pattern.exec(inside)) keys.push([match[1], decoded(match[2])]);
  return keys.length ? { keys } : String(decoded(inside));
}

/** @param {string} text */
function decoded(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Return the path in a value, as far as the value has it, and whether all of it is there.
 * Names with dots, such as those of annotations, are found although messages do not quote them.
 * @param {unknown} value
 * @param {Step[]} steps
 * @returns {{ path: Path, whole: boolean }}
 */
export function follow(value, steps) {
  /** @type {Path} */
  const path = [];
  let current = value;
  for (let i = 0; i < steps.length; ) {
    const found = next(current, steps, i);
    if (!found) return { path, whole: false };
    path.push(found.key);
    current = /** @type {any} */ (current)[found.key];
    i += found.used;
  }
  return { path, whole: true };
}

/**
 * @param {any} value
 * @param {Step[]} steps
 * @param {number} at
 * @returns {{ key: string | number, used: number } | null}
 */
function next(value, steps, at) {
  const step = steps[at];
  if (Array.isArray(value)) {
    const index = typeof step === "number" ? step : typeof step === "object" ? value.findIndex((item) => selects(step, item)) : -1;
    return index >= 0 && index < value.length ? { key: index, used: 1 } : null;
  }
  if (value === null || typeof value !== "object" || typeof step === "object") return null;
  let name = "";
  for (let used = 1; at + used <= steps.length; used++) {
    const part = steps[at + used - 1];
    if (typeof part === "object") return null;
    name = used === 1 ? String(part) : `${name}.${part}`;
    if (Object.hasOwn(value, name)) return { key: name, used };
  }
  return null;
}

/**
 * @param {{ keys: [string, unknown][] }} step
 * @param {any} item
 */
function selects({ keys }, item) {
  return keys.every(([name, wanted]) => (name === "" ? item === wanted : item?.[name] === wanted));
}

/**
 * Return the path of a JSON pointer (RFC 6901). Numbers in it are indexes where the value has a list.
 * @param {string} pointer
 * @param {unknown} value
 * @returns {Path}
 */
export function pathOfPointer(pointer, value) {
  let current = /** @type {any} */ (value);
  return pointer.split("/").slice(1).map((part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const key = Array.isArray(current) ? Number(name) : name;
    current = current && typeof current === "object" && Object.hasOwn(current, key) ? current[key] : undefined;
    return key;
  });
}

/** @param {Path} path */
export function pointerOf(path) {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * Return a path as people write it: `spec.containers[0].image`.
 * @param {Path} path
 */
export function pathText(path) {
  return path.map((key, i) => (typeof key === "number" ? `[${key}]` : /^[\w-]+$/.test(key) ? `${i ? "." : ""}${key}` : `[${key}]`)).join("");
}

/**
 * Return the value at a path, or undefined.
 * @param {unknown} value
 * @param {Path} path
 */
export function valueAt(value, path) {
  let current = /** @type {any} */ (value);
  for (const key of path) {
    if (current === null || typeof current !== "object" || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}
