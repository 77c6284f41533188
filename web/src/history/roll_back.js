/** Dialog that rolls an object back to a revision: a review as after an edit, with a server-side apply by default. */
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Review } from "../edit/review.js";
import { html } from "../frame/html.js";
import { useSchema } from "../schema/use_schema.js";
import { t } from "../texts/catalogue.js";

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, object: any, state: any, onClose: () => void, onDone: () => void }} props
 * `object`: present state. `state`: the one to go back to.
 */
export function RollBack({ kind, object, state, onClose, onDone }) {
  const schema = useSchema(kind);
  const edit = useMemo(() => {
    const { namespace = "", name } = object.metadata;
    return { target: { kind, namespace, name }, base: signal(object), stored: signal(object), read: () => ({ manifest: earlier(state, object) }) };
  }, [state]);
  return html`<${Review} edit=${edit} schema=${schema} title=${t("rollback.title", { revision: state.metadata.resourceVersion })} action=${t("rollback.action")} onClose=${onClose} onSaved=${onDone} />`;
}

/** Metadata that follows the present life of the object. */
const PRESENT = ["uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "finalizers"];

/**
 * Return the fields of an earlier state in the object of today. Owners and finalizers stay: controllers set them.
 * @param {any} state
 * @param {any} object
 */
export function earlier(state, object) {
  const metadata = { ...state.metadata };
  for (const name of PRESENT) {
    delete metadata[name];
    if (object.metadata[name] !== undefined) metadata[name] = object.metadata[name];
  }
  return { ...state, apiVersion: object.apiVersion, kind: object.kind, metadata };
}
