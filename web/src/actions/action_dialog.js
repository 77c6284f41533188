/** Dialog of an action: its input, what a dry run of it says, and the button that does it. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { differencesOf } from "./differences.js";

const IDLE_MS = 250;
const QUERY = "fieldManager=sampan-dashboard";

/**
 * @param {{ action: import("./actions.js").ObjectAction, object: any, onClose: () => void, onDone: (text: string) => void }} props
 */
export function ActionDialog({ action, object, onClose, onDone }) {
  const input = useSignal(initial(action, object));
  const result = useSignal(/** @type {any} */ (null));
  const failed = useSignal(/** @type {unknown} */ (null));
  const busy = useSignal(true);
  // The request of the dry run is the one that is sent: a name or a time in it stays the same.
  const shown = useSignal(/** @type {import("./actions.js").Write | null} */ (null));
  const title = t(`action.${action.id}`);
  useEffect(() => {
    const stop = new AbortController();
    busy.value = true;
    const timer = setTimeout(() => attempt(true, stop.signal), IDLE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [input.value]);
  async function attempt(/** @type {boolean} */ dry, /** @type {AbortSignal | undefined} */ signal = undefined) {
    busy.value = true;
    if (dry) shown.value = action.write(input.peek());
    const { method, path, body, type } = /** @type {import("./actions.js").Write} */ (shown.peek());
    try {
      const found = await session.transport.json(`${path}?${dry ? "dryRun=All&" : ""}${QUERY}`, { method, body, type, signal });
      failed.value = null;
      if (dry) result.value = found;
      else onDone(t("action.done", { action: title, name: object.metadata.name }));
    } catch (error) {
      if (!signal?.aborted) failed.value = error;
    } finally {
      if (!signal?.aborted) busy.value = false;
    }
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!busy.peek() && !failed.peek()) attempt(false);
  };
  return html`<${Dialog} label=${`${title}: ${object.metadata.name}`} class="action-dialog" onClose=${onClose}><form onSubmit=${submit}>
    <div class="dialog-head"><h2>${title} <span class="soft" translate=${false}>${object.metadata.name}</span></h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="action-body">
      <p>${t(`action.${action.id}.hint`)}</p>
      ${action.input === "replicas" && html`<label class="action-field"><span>${t("action.replicas")}</span><input type="number" min="0" max="100000" required value=${input.value.replicas}
        onInput=${(/** @type {any} */ event) => event.target.checkValidity() && (input.value = { replicas: Number(event.target.value) })} /></label>`}
      ${action.input === "images" && Object.entries(input.value.images).map(([name, image]) => html`<label class="action-field" key=${name}><span translate=${false}>${name}</span>
        <input type="text" required spellcheck=${false} value=${image} onInput=${(/** @type {any} */ event) => (input.value = { images: { ...input.peek().images, [name]: event.target.value.trim() } })} /></label>`)}
      <${Outcome} action=${action} object=${object} result=${result.value} failed=${failed.value} busy=${busy.value} />
    </div>
    <div class="dialog-foot"><div class="spacer" /><button type="button" class="button" onClick=${onClose}>${t("review.cancel")}</button>
      <button type="submit" class=${`button primary ${action.danger ? "danger" : ""}`} disabled=${busy.value || Boolean(failed.value)}>${title}</button></div>
  </form><//>`;
}

/** @param {{ action: import("./actions.js").ObjectAction, object: any, result: any, failed: unknown, busy: boolean }} props */
function Outcome({ action, object, result, failed, busy }) {
  if (failed) return html`<div class="notice static" role="alert"><${Icon} name="bad" /><${NoticeBody} notice=${noticeOf(failed)} /></div>`;
  if (busy || !result) return html`<p class="hint" role="status">${t("edit.checking")}</p>`;
  const differences = action.id === "trigger" || action.id === "evict" ? [] : action.input === "replicas"
    ? [{ path: "spec.replicas", before: object.spec?.replicas, after: result.spec?.replicas }].filter(({ before, after }) => before !== after)
    : differencesOf({ ...object, status: undefined }, { ...result, status: undefined });
  if (differences.length === 0) {
    const key = action.id === "trigger" ? "action.creates" : "action.accepted";
    return html`<p class="quiet-line" role="status"><${Icon} name="good" class="good" />${t(key, { name: result.metadata?.name ?? "" })}</p>`;
  }
  return html`<div class="differences" role="status"><p class="quiet-line"><${Icon} name="good" class="good" />${t("action.would_change")}</p>
    <dl>${differences.map(({ path, before, after }) => html`<div key=${path}><dt translate=${false}>${visible(path)}</dt><dd translate=${false}>
      <del>${shown(before)}</del> <span aria-hidden="true">→</span> <ins>${shown(after)}</ins></dd></div>`)}</dl></div>`;
}

/** @param {unknown} value */
function shown(value) {
  if (value === undefined) return "–";
  const text = visible(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** @param {import("./actions.js").ObjectAction} action @param {any} object @returns {Record<string, any>} */
function initial({ input }, object) {
  if (input === "replicas") return { replicas: object.spec?.replicas ?? 1 };
  const containers = object.spec?.template?.spec?.containers ?? [];
  if (input === "images") return { images: Object.fromEntries(containers.map((/** @type {any} */ each) => [each.name, each.image ?? ""])) };
  return {};
}
