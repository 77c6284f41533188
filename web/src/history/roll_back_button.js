/** Buttons of a revision: go back to its state, or undo what it changed. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Lazy } from "../frame/lazy.js";
import { ActionButton } from "../rights/action_button.js";
import { useSchema } from "../schema/use_schema.js";
import { t } from "../texts/catalogue.js";

const loadRollBack = () => import("../frame/lazy_parts.js").then((module) => module.RollBack);

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any, revision: import("./revisions.js").Revision, undo?: boolean, onDone?: () => void }} props */
export function RollBackButton({ kind, object, revision, undo = false, onDone }) {
  const open = useSignal(false);
  const done = useSignal(false);
  const { namespace = "", name } = object.metadata;
  // Read before the dialog needs it.
  useSchema(kind);
  const close = () => (open.value = false);
  const saved = () => {
    close();
    done.value = true;
    onDone?.();
  };
  return html`<${ActionButton} action=${{ kind, namespace, name, verb: "patch" }} icon="restart" onPress=${() => (open.value = true)}>${t(undo ? "rollback.undo" : "rollback.title_short")}<//>
    <span class="visually-hidden" role="status">${done.value ? t("rollback.done") : ""}</span>
    ${open.value && html`<${Lazy} load=${loadRollBack} props=${{ kind, object, revision, undo, onClose: close, onDone: saved }} />`}`;
}

/**
 * Return whether a change can be undone: the state before is known, and a user made it.
 * @param {import("./revisions.js").Revision} revision
 */
export function canUndo({ type, known, fields }) {
  return type === "MODIFIED" && known && fields.some(({ path }) => !path.startsWith("status"));
}
