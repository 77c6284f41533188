/** Tab of an object: its last reconciles by each controller, and the reconciles of other objects that have written it. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { query } from "../routes/location.js";
import { serverAddress } from "../routes/routes.js";
import { clockFormat, t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage, visible } from "../transport/errors.js";
import { RevisionLink, TriggerList } from "./causes.js";
import { resultLevel, shortDuration } from "./figures.js";
import { PauseLine } from "./pause_line.js";
import { NextTry } from "./next_try.js";
import { ObjectLink, kindText } from "./object_link.js";
import { Unread } from "./reason.js";
import { hasRecords, pausableIn, reconcilesQuery } from "./reconciles.js";
import { PATH } from "./reporters.js";
import { isAbsent, useReports } from "./reports.js";

/** @param {import("../details/tabs.js").TabProps} props */
export function ReconcilesView({ kind, object, deleted }) {
  const asked = reconcilesQuery(kind, object);
  const reports = useReports(asked);
  if (!reports.value) return html`<${Loading} />`;
  const found = reports.value.all.filter(({ report }) => hasRecords(report));
  if (found.length === 0 && isAbsent(reports.value.all[0]?.error)) return html`<${Empty} icon="box" title=${t("server.absent")} hint=${t("server.absent_hint", { path: PATH })}><${Unread} all=${reports.value.all} /><//>`;
  if (found.length === 0) return html`<${Empty} icon="progress" title=${t("reconciles.none")} hint=${t("reconciles.none_hint")}><${Unread} all=${reports.value.all} /><//>`;
  const written = found.flatMap(({ report }) => report.written ?? []).filter((each) => `${each.resource} ${each.object}` !== `${asked.resource} ${asked.object}`);
  const wanted = writerOf(written.map((each) => each.reconcile));
  const all = [...found.flatMap(({ report }) => (report.reconciled ?? []).flatMap((/** @type {any} */ each) => each.reconciles)), ...written.map((each) => each.reconcile)];
  const revision = query.value.get("rev") ?? "";
  const pausable = found.flatMap(({ report }) => pausableIn(report));
  return html`<div class="events reconciles">
    ${pausable.length > 0 && !deleted && html`<${PauseLine} kind=${kind} object=${object} reconciled=${pausable} />`}
    ${revision && !all.some((each) => writerOf([each])) && html`<p class="soft" role="status">${t("reconciles.no_writer", { revision: visible(revision) })}</p>`}
    ${found.flatMap(({ reporter, report }) => (report.reconciled ?? []).map((/** @type {any} */ each) => html`<${ByController} key=${`${reporter.id} ${each.controller}`} reporter=${reporter} each=${each} />`))}
    ${written.length > 0 && html`<section><h2>${t("reconciles.written")}</h2><p class="soft">${t("reconciles.written_hint")}</p>
      <ol class="timeline" role="list">${written.map((each) => html`<${Attempt} key=${each.reconcile.id} reconcile=${each.reconcile} of=${each} isWanted=${each.reconcile.id === wanted} />`)}</ol></section>`}
  </div>`;
}

/** @param {{ reporter: import("./reporters.js").Reporter, each: any }} props */
function ByController({ reporter, each }) {
  const address = serverAddress("controllers", { of: reporter.id === "server" ? "" : reporter.id, controller: each.controller });
  const wanted = writerOf(each.reconciles);
  return html`<section><h2 class="by-controller"><a translate=${false} href=${address}>${visible(each.controller)}</a>
      ${reporter.lease && html`<span class="count" translate=${false}>${visible(reporter.id)}</span>`}
      <span class="count">${t("reconciles.count", { count: each.total })}</span></h2>
    <dl class="figures">
      <div><dt>${t("controllers.next")}</dt><dd><${NextTry} each=${each} /></dd></div>
      <div><dt>${t("reconciles.failures")}</dt><dd class=${each.failures ? "bad-text" : null} translate=${false}>${each.failures}</dd></div>
    </dl>
    ${reporter.lease && ["kind", "off"].includes(each.unpausable) && html`<p class="soft">${each.unpausable === "kind" ? t("reconciles.unpausable_kind") : t("reconciles.unpausable_off")}</p>`}
    <ol class="timeline" role="list">${each.reconciles.map((/** @type {any} */ reconcile) => html`<${Attempt} key=${reconcile.id} reconcile=${reconcile} of=${null} isWanted=${reconcile.id === wanted} />`)}</ol>
  </section>`;
}

/**
 * Return the id of the first reconcile that has written the revision of the address. A later write that changes nothing
 * has the same revision.
 * @param {any[]} reconciles newest first
 */
function writerOf(reconciles) {
  const wanted = query.value.get("rev") ?? "";
  return wanted && reconciles.findLast((each) => each.writes.some((/** @type {any} */ write) => write.resourceVersion === wanted))?.id;
}

/** @param {{ reconcile: any, of: { resource: string, object: string, controller: string } | null, isWanted: boolean }} props */
function Attempt({ reconcile, of, isWanted }) {
  const level = resultLevel(reconcile.result);
  return html`<li class=${`event ${level}${isWanted ? " wanted" : ""}`} aria-current=${isWanted ? "true" : null}>
    <span class="event-icon"><${Icon} name=${level} /></span>
    <span class="event-time"><${Age} at=${reconcile.started} /><span class="soft clock">${clockFormat().format(Date.parse(reconcile.started))}</span></span>
    <div class="event-body">
      <div class="event-head"><strong>${t(`controllers.result_${reconcile.result}`)}</strong>
        ${of && html`<span><span translate=${false}>${visible(of.controller)}</span>${of.resource && html` · <span translate=${false}>${visible(kindText(of.resource))}</span>`} <${ObjectLink} resource=${of.resource} object=${of.object} parameters=${{ tab: "reconciles" }} /></span>`}
        <span class="soft">${t("reconciles.took", { time: shortDuration(reconcile.seconds) })}</span>
        ${reconcile.waitedSeconds >= 0.001 && html`<span class="soft">${t("reconciles.waited", { time: shortDuration(reconcile.waitedSeconds) })}</span>`}
        ${reconcile.attempt > 1 && html`<span class="soft">${t("reconciles.attempt", { number: reconcile.attempt })}</span>`}
        ${typeof reconcile.nextSeconds === "number" && html`<span class="soft">${t("reconciles.next", { time: shortDuration(reconcile.nextSeconds) })}</span>`}</div>
      ${reconcile.error && html`<p class="error-text" translate=${false}>${safeMessage(reconcile.error)}</p>`}
      <dl class="attempt-facts">
        <dt>${t("controllers.triggers")}</dt><dd><${TriggerList} reconcile=${reconcile} /></dd>
        ${reconcile.writes.length > 0 && html`<dt>${t("reconciles.writes")}</dt><dd><${Writes} reconcile=${reconcile} /></dd>`}
        ${reconcile.traceID && html`<dt>${t("reconciles.trace")}</dt><dd><code translate=${false}>${visible(reconcile.traceID)}</code></dd>`}
      </dl>
    </div>
  </li>`;
}

/** @param {{ reconcile: any }} props */
function Writes({ reconcile }) {
  return html`<ul class="trigger-list" role="list">${reconcile.writes.map((/** @type {any} */ write, /** @type {number} */ index) => html`<li key=${index}>
      <span translate=${false}>${visible(write.verb)}</span>
      <span><span translate=${false}>${visible(kindText(write.resource))}</span> <${ObjectLink} resource=${write.resource} object=${write.object} />${write.subresource && html`<span class="soft" translate=${false}>/${visible(write.subresource)}</span>`}</span>
      ${write.resourceVersion && html`<${RevisionLink} resource=${write.resource} object=${write.object} revision=${write.resourceVersion} />`}</li>`)}
    ${reconcile.moreWrites > 0 && html`<li class="soft">${t("controllers.more", { count: reconcile.moreWrites })}</li>`}</ul>`;
}
