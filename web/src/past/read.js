/** Reads of what the page shows: of the present, or of its moment in the past. Other pages would mix both. */
import { apiPath } from "../discovery/kinds.js";
import { NoHistory, readChanges } from "../history/records.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { StatusError } from "../transport/errors.js";
import { moment } from "./moment.js";
import { revisionAt } from "./revision_at.js";

/**
 * Return the parameters that read a list at the moment of the page; none for the present. Raises `StatusError` 501 without a history.
 * @param {string} path of the list
 * @param {AbortSignal} [signal]
 * @returns {Promise<Record<string, string>>}
 */
export async function parametersAt(path, signal = new AbortController().signal) {
  const revision = await revisionOf(path, signal);
  return revision ? { resourceVersion: revision, resourceVersionMatch: "Exact" } : {};
}

/**
 * Return the revision before which a history is shown; empty: all of it.
 * @param {string} path of the list
 * @param {AbortSignal} signal
 */
export async function historyEnd(path, signal) {
  const revision = await revisionOf(path, signal);
  return revision && String(Number(revision) + 1);
}

/**
 * Return a list with further parameters. Raises as `parametersAt`.
 * @param {string} path
 * @param {Record<string, string>} parameters
 * @param {{ accept?: string, signal?: AbortSignal }} [options]
 */
export async function readList(path, parameters, options = {}) {
  return session.transport.json(`${path}?${new URLSearchParams({ ...parameters, ...(await parametersAt(path, options.signal)) })}`, options);
}

/**
 * Return an object; of the past from a list of it, which is the only read at a revision. Raises as `parametersAt`, and 404.
 * @param {{ group: string, version: string, plural: string }} kind
 * @param {string} namespace
 * @param {string} name
 * @param {{ accept?: string, signal?: AbortSignal }} [options]
 */
export async function readObject(kind, namespace, name, options = {}) {
  if (!moment.peek()) return session.transport.json(apiPath(kind, namespace, name), options);
  const accept = options.accept?.replace("PartialObjectMetadata;", "PartialObjectMetadataList;");
  const list = await readList(apiPath(kind, namespace), { fieldSelector: `metadata.name=${name}` }, { ...options, accept });
  const [item] = list.items;
  if (!item) throw new StatusError(404, { message: t("past.absent") });
  return { apiVersion: list.apiVersion, kind: String(list.kind).replace(/List$/, ""), ...item };
}

/**
 * Return a page of the revisions of an object; in the past those until then, also of an object that was deleted and created again since.
 * Raises as `parametersAt` and `readChanges`.
 * @param {{ group: string, version: string, plural: string }} kind
 * @param {string} namespace
 * @param {string} name
 * @param {import("../history/records.js").Range} range
 * @param {AbortSignal} signal
 */
export async function readRevisions(kind, namespace, name, range, signal) {
  if (!moment.peek()) return readChanges(session.transport, apiPath(kind, namespace, name), "revisions", range, signal);
  const path = apiPath(kind, namespace);
  const before = range.before || (await historyEnd(path, signal));
  return readChanges(session.transport, path, "changes", { ...range, before, selectors: { fieldSelector: `metadata.name=${name}` } }, signal);
}

/** @param {string} path @param {AbortSignal} signal */
async function revisionOf(path, signal) {
  const shown = moment.peek();
  if (!shown) return "";
  try {
    return (await revisionAt(path, shown, signal)).read;
  } catch (error) {
    throw error instanceof NoHistory ? new StatusError(501, { message: t("history.none_hint") }) : error;
  }
}
