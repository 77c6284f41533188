/** Schema of a kind, read once from `/openapi/v3`. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { session } from "../session/session.js";
import { kindSchema } from "./schema.js";

/** Documents by address, which has a hash of the content. @type {Map<string, Promise<any>>} */
const documents = new Map();
const KEPT_MAX = 12;
const TRIES = 4;
const RETRY_MS = 1000;

/**
 * Return the schema of a kind; null until it is there, or if there is none.
 * @param {import("../discovery/kinds.js").Kind} kind
 */
export function useSchema(kind) {
  const schema = useSignal(/** @type {import("./schema.js").Schema | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    follow(kind, schema, stop.signal).catch(() => {});
    return () => stop.abort();
  }, [kind]);
  return schema.value;
}

/**
 * Read the schema. The server publishes that of a new CRD a moment later than the CRD.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {import("@preact/signals").Signal<import("./schema.js").Schema | null>} schema
 * @param {AbortSignal} stop
 */
async function follow(kind, schema, stop) {
  for (let i = 0; i < TRIES && !stop.aborted && !schema.peek(); i++) {
    if (i > 0) await pause(RETRY_MS, stop);
    const found = kindSchema(await documentOf(kind), kind);
    if (!stop.aborted) schema.value = found;
  }
}

/** @param {import("../discovery/kinds.js").Kind} kind */
async function documentOf({ group, version }) {
  const index = await session.transport.json("/openapi/v3");
  const path = group ? `apis/${group}/${version}` : `api/${version}`;
  const address = index.paths?.[path]?.serverRelativeURL;
  if (!address?.startsWith("/openapi/")) return null;
  let document = documents.get(address);
  if (!document) {
    if (documents.size >= KEPT_MAX) documents.clear();
    document = session.transport.json(address);
    documents.set(address, document);
    document.catch(() => documents.delete(address));
  }
  return document;
}
