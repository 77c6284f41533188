/** Reasons why the page has no report of a process, or an old one. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { safeMessage, visible } from "../transport/errors.js";
import { PATH } from "./reporters.js";
import { isAbsent } from "./reports.js";

/**
 * Reason why there is no report, or an old one.
 * @param {{ reported: import("./reports.js").Reported }} props
 */
export function Reason({ reported: { reporter, report, error } }) {
  if (reporter.hidden) {
    const values = { pod: visible(reporter.lease?.pod ?? ""), host: visible(reporter.lease?.host ?? ""), namespace: visible(reporter.lease?.namespace ?? "") };
    return html`<p class="quiet-line"><${Icon} name=${reporter.hidden === "path" || reporter.hidden === "proxy" ? "lock" : "neutral"} />${t(`controllers.hidden_${reporter.hidden}`, values)}</p>`;
  }
  if (error) {
    return html`<p class="quiet-line reporter-error" role="status"><${Icon} name="warn" /><span>${isAbsent(error) ? t("server.absent_hint", { path: PATH }) : html`${t("controllers.unreachable")} <span translate=${false}>${safeMessage(error.message)}</span>`}</span></p>`;
  }
  if (report && !report.leads) return html`<p class="quiet-line"><${Icon} name="neutral" />${t(reporter.lease ? "controllers.standby" : "controllers.elsewhere")}</p>`;
  if (report && !report.controllers?.length && !report.objects) return html`<p class="quiet-line">${t("controllers.none")}</p>`;
  return null;
}

/**
 * Operators whose reports the page cannot read, each with the reason: the reconciles of an object may be there.
 * @param {{ all: import("./reports.js").Reported[] }} props
 */
export function Unread({ all }) {
  return all.filter(({ reporter, error }) => reporter.lease && (reporter.hidden || error)).map((each) => html`<section class="reporter unread" key=${each.reporter.id}>
    <h2><span translate=${false}>${visible(each.reporter.title)}</span> <span class="count" translate=${false}>${visible(each.reporter.lease?.namespace ?? "")}</span></h2>
    <${Reason} reported=${each} /></section>`);
}
