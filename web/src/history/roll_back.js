/** Dialog that rolls an object back to a revision, or undoes one: a review as after an edit, with a server-side apply by default. */
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Review } from "../edit/review.js";
import { mergeThree } from "../edit/three_way.js";
import { html } from "../frame/html.js";
import { useSchema } from "../schema/use_schema.js";
import { t } from "../texts/catalogue.js";

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, object: any, revision: import("./revisions.js").Revision, undo: boolean, onClose: () => void, onDone: () => void }} props
 * `object`: present state. `undo`: reverse what the revision changed, and keep what was changed later.
 */
export function RollBack({ kind, object, revision, undo, onClose, onDone }) {
  const schema = useSchema(kind);
  const edit = useMemo(() => {
    const { namespace = "", name } = object.metadata;
    const state = undo ? mergeThree(revision.object, revision.before, object, []) : revision.object;
    return { target: { kind, namespace, name }, base: signal(object), stored: signal(object), read: () => ({ manifest: earlier(state, object) }) };
  }, [revision]);
  return html`<${Review} edit=${edit} schema=${schema} title=${t(undo ? "rollback.undo_title" : "rollback.title", { revision: revision.revision })} action=${t(undo ? "rollback.undo" : "rollback.action")} takes=${undo ? revision.actor.manager : ""} onClose=${onClose} onSaved=${onDone} />`;
}

/** Metadata that follows the present life of the object. */
const PRESENT = ["uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "finalizers"];

/** Annotations that controllers write about the present state. */
const NOTES = /^(deployment|autoscaling\.alpha)\.kubernetes\.io\//;

/**
 * Return the fields of an earlier state in the object of today. What controllers set stays: owners, finalizers and their annotations.
 * @param {any} state
 * @param {any} object
 */
export function earlier(state, object) {
  const metadata = { ...state.metadata };
  for (const name of PRESENT) {
    delete metadata[name];
    if (object.metadata[name] !== undefined) metadata[name] = object.metadata[name];
  }
  const notes = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => NOTES.test(name));
  const others = Object.entries(state.metadata.annotations ?? {}).filter(([name]) => !NOTES.test(name));
  if (notes.length || metadata.annotations) metadata.annotations = Object.fromEntries([...others, ...notes]);
  return { ...state, apiVersion: object.apiVersion, kind: object.kind, metadata };
}
