/** Search of the palette: objects of all kinds by a part of their names, which the server looks for (SelfObjectSearch). */
import { signal } from "@preact/signals";
import { moment } from "../past/moment.js";
import { session } from "../session/session.js";

const PATH = "/apis/sampan.dev/v1alpha1/selfobjectsearches";
/** Time in milliseconds without a key after which the server searches. */
const PAUSE_MS = 120;
const LENGTH_MIN = 2;

/**
 * @typedef {{ kind: import("../discovery/kinds.js").Kind, objects: { namespace: string, name: string }[], more: number }} Found
 */

/** What the server has found for `text`. */
export const found = signal(/** @type {{ text: string, groups: Found[] }} */ ({ text: "", groups: [] }));

/** Return whether a text is one to search for. The past has no index of names. @param {string} text */
export function isSearched(text) {
  return text.length >= LENGTH_MIN && session.has("search") && !moment.value;
}

/**
 * Search after a pause. Return a function that ends it.
 * @param {string} text
 */
export function search(text) {
  const stop = new AbortController();
  const timer = setTimeout(async () => {
    const body = { apiVersion: "sampan.dev/v1alpha1", kind: "SelfObjectSearch", spec: { text } };
    const { status } = await session.transport.json(PATH, { method: "POST", body, signal: stop.signal }).catch(() => ({}));
    if (!stop.signal.aborted) found.value = { text, groups: withKinds(status?.groups ?? []) };
  }, PAUSE_MS);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}

/** @param {any[]} groups @returns {Found[]} */
function withKinds(groups) {
  const kinds = session.discovery.kinds.peek();
  return groups.flatMap(({ group, resource, objects, more }) => {
    const kind = kinds.find((each) => each.group === group && each.plural === resource);
    return kind ? [{ kind, objects, more }] : [];
  });
}
