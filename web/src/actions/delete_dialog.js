/** Dialog before a deletion: what goes with the object, what will hold it, and how its dependents are treated. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { apiPath, pluralTitle } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { closureOf } from "./closure.js";
import { ClosureList } from "./closure_list.js";

const POLICIES = /** @type {const} */ (["Background", "Foreground", "Orphan"]);

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any, onClose: () => void, onDone: (text: string) => void }} props */
export function DeleteDialog({ kind, object, onClose, onDone }) {
  const { name, namespace = "", uid } = object.metadata;
  const policy = useSignal(/** @type {string} */ ("Background"));
  const closure = useSignal(/** @type {import("./closure.js").Closure | null} */ (null));
  const failed = useSignal(/** @type {unknown} */ (null));
  const typed = useSignal("");
  const busy = useSignal(false);
  const grave = (kind.plural === "namespaces" && kind.group === "") || kind.plural === "customresourcedefinitions";
  const attempt = async (/** @type {boolean} */ dry, /** @type {AbortSignal | undefined} */ signal = undefined) => {
    busy.value = true;
    const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: policy.peek(), preconditions: { uid }, ...(dry ? { dryRun: ["All"] } : {}) };
    try {
      await session.transport.json(apiPath(kind, namespace, name), { method: "DELETE", body, signal });
      failed.value = null;
      if (!dry) onDone(t("delete.done", { name }));
    } catch (error) {
      if (!signal?.aborted) failed.value = error;
    } finally {
      if (!signal?.aborted) busy.value = false;
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    closureOf(kind, object, stop.signal).then((found) => (closure.value = found), (error) => !stop.signal.aborted && (failed.value = error));
    return () => stop.abort();
  }, []);
  useEffect(() => {
    const stop = new AbortController();
    attempt(true, stop.signal);
    return () => stop.abort();
  }, [policy.value]);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    attempt(false);
  };
  return html`<${Dialog} label=${`${t("delete.title")}: ${name}`} class="action-dialog" onClose=${onClose}><form onSubmit=${submit}>
    <div class="dialog-head"><h2>${t("delete.title")} <span class="soft" translate=${false}>${kind.kind} ${name}</span></h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="action-body">
      ${failed.value && html`<div class="notice static" role="alert"><${Icon} name="bad" /><${NoticeBody} notice=${noticeOf(failed.value)} /></div>`}
      <${Held} object=${object} closure=${closure.value} policy=${policy.value} />
      ${!grave && html`<fieldset class="policies"><legend>${t("delete.policy")}</legend>
        ${POLICIES.map((each) => html`<label class="choice" key=${each}><input type="radio" name="policy" checked=${policy.value === each} onChange=${() => (policy.value = each)} />
          <span>${t(`delete.policy.${each}`)}</span></label>`)}</fieldset>`}
      <${ClosureList} closure=${closure.value} orphaned=${policy.value === "Orphan"} />
      ${grave && html`<label class="action-field"><span>${t("delete.type", { name })}</span><input type="text" autocomplete="off" spellcheck=${false} value=${typed.value}
        onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} /></label>`}
    </div>
    <div class="dialog-foot"><div class="spacer" /><button type="button" class="button" onClick=${onClose}>${t("review.cancel")}</button>
      <button type="submit" class="button primary danger" disabled=${busy.value || Boolean(failed.value) || (grave && typed.value !== name)}>${t("delete.title")}</button></div>
  </form><//>`;
}

/** @param {{ object: any, closure: import("./closure.js").Closure | null, policy: string }} props */
function Held({ object, closure, policy }) {
  const own = [...(object.metadata.finalizers ?? []), ...(object.kind === "Namespace" ? (object.spec?.finalizers ?? []).filter((/** @type {string} */ each) => each !== "kubernetes") : [])];
  const members = policy === "Orphan" ? [] : (closure?.members ?? []).filter(({ metadata }) => metadata.finalizers?.length);
  if (own.length === 0 && members.length === 0) return null;
  return html`<div class="held"><p><${Icon} name="warn" />${t("delete.held")}</p><ul role="list">
    ${own.map((each) => html`<li key=${each}><code translate=${false}>${each}</code></li>`)}
    ${members.slice(0, 10).map(({ kind, metadata }) => html`<li key=${metadata.uid}><span translate=${false}>${kind.kind} ${metadata.name}: <code>${metadata.finalizers?.join(", ")}</code></span></li>`)}
    ${members.length > 10 && html`<li>${t("delete.more", { count: members.length - 10, kind: pluralTitle(members[0].kind) })}</li>`}
  </ul></div>`;
}
