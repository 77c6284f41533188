/** What holds a deletion: finalizers, or the conditions of a namespace, and since when. A finalizer is removed after its name is typed. */
import { useSignal } from "@preact/signals";
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { reportError } from "../frame/notices.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage } from "../transport/errors.js";

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any }} props */
export function Stuck({ kind, object }) {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (!deletionTimestamp) return null;
  const conditions = (object.status?.conditions ?? []).filter((/** @type {any} */ each) => object.kind === "Namespace" && each.status === "True");
  return html`<section class="held" aria-labelledby="stuck-title">
    <h2 id="stuck-title"><${Icon} name="warn" />${t("stuck.title")} <${Age} at=${deletionTimestamp} /></h2>
    <ul role="list">
      ${finalizers.map((/** @type {string} */ name) => html`<${Finalizer} key=${name} kind=${kind} object=${object} name=${name} />`)}
      ${conditions.map((/** @type {any} */ each) => html`<li key=${each.type}><strong translate=${false}>${each.type}</strong> <${Age} at=${each.lastTransitionTime} />
        <p translate=${false}>${safeMessage(each.message)}</p></li>`)}
      ${finalizers.length + conditions.length === 0 && html`<li>${t("stuck.waits")}</li>`}
    </ul></section>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any, name: string }} props */
function Finalizer({ kind, object, name }) {
  const open = useSignal(false);
  const typed = useSignal("");
  const { namespace = "", name: objectName, finalizers, resourceVersion } = object.metadata;
  const remove = (/** @type {Event} */ event) => {
    event.preventDefault();
    const body = { metadata: { resourceVersion, finalizers: finalizers.filter((/** @type {string} */ each) => each !== name) } };
    const path = `${apiPath(kind, namespace, objectName)}?fieldManager=sampan-dashboard`;
    session.transport.json(path, { method: "PATCH", body, type: "application/merge-patch+json" }).catch(reportError);
  };
  return html`<li><code translate=${false}>${name}</code>
    ${open.value
      ? html`<form class="stuck-form" onSubmit=${remove}><label class="action-field"><span>${t("stuck.type", { name })}</span>
          <input type="text" autocomplete="off" spellcheck=${false} value=${typed.value} onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} /></label>
          <button type="submit" class="button primary danger" disabled=${typed.value !== name}>${t("stuck.remove")}</button></form>`
      : html` <button type="button" class="more" aria-label=${t("stuck.remove_one", { name })} onClick=${() => (open.value = true)}>${t("stuck.remove")}</button>`}</li>`;
}
