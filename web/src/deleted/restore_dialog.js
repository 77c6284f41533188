/** Dialog that creates a deleted object again: what would be created, what was left out, and what the server says about it. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { masked } from "../details/secret.js";
import { piecesOf } from "../details/yaml_pieces.js";
import { apiPath } from "../discovery/kinds.js";
import { MANAGER } from "../edit/check.js";
import { manifestOf } from "../edit/manifest.js";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { StatusError, safeMessage, visible } from "../transport/errors.js";
import { restorable } from "./restorable.js";

const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const LINES_MAX = 1000;

/** @param {{ kind: import("../discovery/kinds.js").Kind, change: import("../history/records.js").Change, onClose: () => void, onDone: (object: any) => void }} props */
export function RestoreDialog({ kind, change: { object }, onClose, onDone }) {
  const plan = useSignal(/** @type {import("./restorable.js").Restorable | null} */ (null));
  const checked = useSignal(false);
  const busy = useSignal(true);
  const failed = useSignal(/** @type {unknown} */ (null));
  const warnings = useSignal(/** @type {string[]} */ ([]));
  const { name, namespace = "" } = object.metadata;
  const create = (/** @type {boolean} */ dry, /** @type {any} */ body, /** @type {AbortSignal | undefined} */ signal = undefined) =>
    session.transport.json(`${apiPath(kind, namespace)}?${dry ? "dryRun=All&" : ""}fieldManager=${MANAGER}`, { method: "POST", body, signal, onWarnings: (texts) => (warnings.value = texts) });
  useEffect(() => {
    const stop = new AbortController();
    const check = async () => {
      plan.value = restorable(object, await missingOwners(object, stop.signal));
      await create(true, plan.value.manifest, stop.signal);
      checked.value = true;
    };
    check().catch((error) => !stop.signal.aborted && (failed.value = error)).finally(() => (busy.value = false));
    return () => stop.abort();
  }, []);
  const restore = async () => {
    busy.value = true;
    try {
      onDone(await create(false, plan.peek()?.manifest));
    } catch (error) {
      failed.value = error;
      busy.value = false;
    }
  };
  const title = t("deleted.restore_title", { kind: kind.kind });
  return html`<${Dialog} label=${`${title} ${name}`} class="review-dialog restore-dialog" onClose=${onClose}>
    <div class="dialog-head"><h2>${title} <span class="soft" translate=${false}>${visible(name)}</span></h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="review-body">
      ${failed.value && html`<div class="notice static" role="alert"><${Icon} name="bad" /><${NoticeBody} notice=${noticeOf(failed.value)} /></div>`}
      <p class="quiet-line" role="status">${checked.value && !failed.value ? html`<${Icon} name="good" class="good" />${t("deleted.accepted")}` : busy.value && t("edit.checking")}</p>
      ${warnings.value.map((text, i) => html`<p class="hint warn" key=${i}><${Icon} name="warn" /><span translate=${false}>${safeMessage(text)}</span></p>`)}
      ${plan.value?.notes.length ? html`<ul class="restore-notes soft">${plan.value.notes.map((each) => html`<li key=${each}>${t(each)}</li>`)}</ul>` : null}
      ${plan.value && html`<${Manifest} manifest=${plan.value.manifest} />`}
    </div>
    <div class="dialog-foot"><div class="spacer" /><button type="button" class="button" onClick=${onClose}>${t("review.cancel")}</button>
      <button type="button" class="button primary" disabled=${busy.value || !checked.value || Boolean(failed.value)} onClick=${restore}>${t("deleted.restore")}</button></div>
  <//>`;
}

/** @param {{ manifest: any }} props */
function Manifest({ manifest }) {
  const lines = manifestOf(masked(manifest)).trimEnd().split("\n");
  return html`<div class="restore-manifest" role="region" tabindex="0" aria-label=${t("deleted.manifest")} translate=${false}><pre>${lines.slice(0, LINES_MAX).map((line, i) => html`<div key=${i}>${piecesOf(visible(line)).map(([type, piece]) => (type ? html`<span class=${`y-${type}`}>${piece}</span>` : piece))}</div>`)}</pre>
    ${lines.length > LINES_MAX && "…"}</div>`;
}

/**
 * Return the uids of owners that no longer exist: the garbage collector would remove the object at once.
 * @param {any} object
 * @param {AbortSignal} signal
 * @returns {Promise<Set<string>>}
 */
async function missingOwners(object, signal) {
  const { namespace = "", ownerReferences = [] } = object.metadata;
  /** @type {Set<string>} */
  const gone = new Set();
  for (const owner of ownerReferences) {
    const kind = session.discovery.ofObject(owner.apiVersion, owner.kind);
    if (!kind) continue;
    try {
      const found = await session.transport.json(apiPath(kind, kind.namespaced ? namespace : "", owner.name), { accept: METADATA, signal });
      if (found.metadata.uid !== owner.uid) gone.add(owner.uid);
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
      gone.add(owner.uid);
    }
  }
  return gone;
}
