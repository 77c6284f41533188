/** Failed actions. Each stays until the user dismisses it, with what the server said. */
import { signal } from "@preact/signals";
import { StatusError, safeMessage } from "../transport/errors.js";
import { t } from "../texts/catalogue.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";

/**
 * @typedef {{ title: string, message: string, code?: number, reason?: string,
 *   causes: { field?: string, message?: string, reason?: string }[] }} Notice
 */

/** @type {import("@preact/signals").Signal<(Notice & { id: number })[]>} */
const notices = signal([]);
let next = 1;
const SHOWN_MAX = 5;

/** @param {Notice} notice */
export function report(notice) {
  notices.value = [...notices.value, { ...notice, id: next++ }].slice(-SHOWN_MAX);
}

/**
 * Report the error of an action.
 * @param {unknown} error
 */
export function reportError(error) {
  report(noticeOf(error));
}

/**
 * @param {unknown} error
 * @returns {Notice}
 */
export function noticeOf(error) {
  if (!(error instanceof StatusError)) {
    return { title: t("error.connection"), message: safeMessage(/** @type {any} */ (error)?.message), causes: [] };
  }
  const { status, code } = error;
  const causes = (status.details?.causes ?? []).map((each) => ({ ...each, message: safeMessage(each.message) }));
  return { title: t("error.title"), message: safeMessage(status.message), code, reason: status.reason, causes };
}

/** @param {{ notice: Notice }} props */
export function NoticeBody({ notice }) {
  return html`<div class="notice-body">
    <strong>${notice.title}</strong>
    <p translate=${false}>${notice.message}</p>
    ${notice.causes.length > 0 && html`<ul>${notice.causes.map((cause, i) => html`<li key=${i} translate=${false}>
      ${cause.field && html`<code>${cause.field}</code>`} ${cause.message}</li>`)}</ul>`}
    ${notice.code && html`<p class="soft"><span>${t("error.code", { code: notice.code })}</span> <span translate=${false}>${notice.reason ?? ""}</span></p>`}
  </div>`;
}

export function Notices() {
  if (notices.value.length === 0) return null;
  const dismiss = (/** @type {number} */ id) => (notices.value = notices.value.filter((each) => each.id !== id));
  const copy = (/** @type {Notice} */ notice) => navigator.clipboard?.writeText(JSON.stringify(notice, null, 1)).catch(() => {});
  return html`<div class="notices" role="region" aria-label=${t("notice.label")}>
    ${notices.value.map((notice) => html`<div class="notice" role="alert" key=${notice.id}>
      <${Icon} name="bad" /><${NoticeBody} notice=${notice} />
      <button type="button" class="icon-button small" aria-label=${t("notice.copy")} title=${t("notice.copy")} onClick=${() => copy(notice)}><${Icon} name="copy" /></button>
      <button type="button" class="icon-button small" aria-label=${t("notice.dismiss")} title=${t("notice.dismiss")} onClick=${() => dismiss(notice.id)}><${Icon} name="close" /></button>
    </div>`)}
  </div>`;
}
