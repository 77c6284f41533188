/** Schema of a kind, read once from `/openapi/v3`. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { session } from "../session/session.js";
import { kindSchema } from "./schema.js";

/** Documents by address, which has a hash of the content. @type {Map<string, Promise<any>>} */
const documents = new Map();
const KEPT_MAX = 12;

/**
 * Return the schema of a kind; null until it is there, or if there is none.
 * @param {import("../discovery/kinds.js").Kind} kind
 */
export function useSchema(kind) {
  const schema = useSignal(/** @type {import("./schema.js").Schema | null} */ (null));
  useEffect(() => {
    let current = true;
    documentOf(kind).then((document) => current && (schema.value = kindSchema(document, kind)), () => {});
    return () => {
      current = false;
    };
  }, [kind]);
  return schema.value;
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
