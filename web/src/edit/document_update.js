/** Changes of a YAML text by those of its object: comments and the order of fields stay. */
import { isMap, isScalar, isSeq } from "yaml";
import { isObject, same } from "./changes.js";
import { readManifest, textOf } from "./manifest.js";

/**
 * Return a text with the values of an object. Without a readable text, null.
 * @param {string} text
 * @param {any} object
 */
export function updatedText(text, object) {
  const { parts, faults } = readManifest(text);
  if (faults.length || parts.length !== 1) return null;
  const { document, value } = parts[0];
  if (!isMap(document.contents)) return null;
  update(document, document.contents, value, object);
  return textOf(document);
}

/**
 * @param {any} document
 * @param {any} node
 * @param {any} before
 * @param {any} after
 */
function update(document, node, before, after) {
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) node.delete(name);
  for (const name of Object.keys(after)) {
    if (Object.hasOwn(before, name) && same(before[name], after[name])) continue;
    const child = Object.hasOwn(before, name) ? node.get(name, true) : undefined;
    if (isMap(child) && isObject(before[name]) && isObject(after[name])) update(document, child, before[name], after[name]);
    else if (isSeq(child) && Array.isArray(after[name]) && Array.isArray(before[name])) updateList(document, child, before[name], after[name]);
    else if (isScalar(child) && !isObject(after[name]) && !Array.isArray(after[name])) child.value = after[name];
    else node.set(document.createNode(name), document.createNode(after[name]));
  }
}

/** @param {any} document @param {any} node @param {any[]} before @param {any[]} after */
function updateList(document, node, before, after) {
  for (let i = 0; i < after.length; i++) {
    if (i < before.length && same(before[i], after[i])) continue;
    const child = node.items[i];
    if (i < before.length && isMap(child) && isObject(before[i]) && isObject(after[i])) update(document, child, before[i], after[i]);
    else node.items[i] = document.createNode(after[i]);
  }
  node.items.length = after.length;
}
