/** One controller: its queue, and its objects with their last reconciles. Failing ones are first. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { serverAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage, visible } from "../transport/errors.js";
import { Triggers } from "./causes.js";
import { perMinute, resultLevel, shortDuration } from "./figures.js";
import { NextTry } from "./next_try.js";
import { ObjectLink } from "./object_link.js";
import { Reason } from "./reason.js";
import { useReports } from "./reports.js";

/** @param {{ reporter: string, name: string }} props */
export function ControllerView({ reporter, name }) {
  const reports = useReports({ controller: name }, reporter);
  if (!reports.value) return html`<${Loading} />`;
  const [reported] = reports.value.all;
  const back = html`<a class="crumb" href=${serverAddress("controllers")}><${Icon} name="back" />${t("controllers.title")}</a>`;
  if (!reported || (reported.error?.code === 404 && !reported.report)) {
    return html`<${Empty} whole icon="box" title=${t("controllers.gone", { name })} hint=${t("controllers.gone_hint")}><a class="button" href=${serverAddress("controllers")}>${t("controllers.title")}</a><//>`;
  }
  const { report } = reported;
  const [controller] = report?.controllers ?? [];
  return html`<section class="controllers" aria-labelledby="page-title">
    <header class="toolbar">${back}<div class="title-line"><h1 id="page-title" translate=${false}>${visible(name)}</h1>
      ${controller?.failing > 0 && html`<span class="pill bad">${t("controllers.failing_objects", { count: controller.failing })}</span>`}</div></header>
    <div class="home-scroll">
      <${Reason} reported=${reported} />
      ${controller && html`<${Figures} controller=${controller} />`}
      ${report && html`<h2>${t("controllers.objects")} <span class="count" translate=${false}>${report.total}</span></h2>
        ${report.objects?.length ? html`<${Objects} objects=${report.objects} />` : html`<p class="quiet-line">${t("controllers.no_objects")}</p>`}
        ${report.total > (report.objects?.length ?? 0) && html`<p class="soft">${t("controllers.first_objects", { count: report.objects.length })}</p>`}`}
    </div>
  </section>`;
}

/** @param {{ controller: any }} props */
function Figures({ controller }) {
  const { queue } = controller;
  const figures = [
    ["queued", String(queue.depth)],
    ["oldest", queue.oldestSeconds === null ? "–" : shortDuration(queue.oldestSeconds)],
    ["waiting", String(queue.waiting)],
    ["workers", `${controller.active} / ${controller.workers}`],
    ["rate", perMinute(controller.perSecond)],
    ["errors", perMinute(controller.errorsPerSecond)],
  ];
  return html`<dl class="figures">${figures.map(([name, value]) => html`<div key=${name} title=${t(`controllers.hint_${name}`)}><dt>${t(`controllers.${name}`)}</dt><dd translate=${false}>${value}</dd></div>`)}</dl>`;
}

/** @param {{ objects: any[] }} props */
function Objects({ objects }) {
  const columns = ["object", "result", "triggers", "last", "took", "next"];
  const secondary = new Set(["triggers", "took"]);
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("controllers.objects")}><table class="plain reconciled">
    <thead><tr>${columns.map((name) => html`<th scope="col" key=${name} class=${secondary.has(name) ? "secondary" : null}>${t(`controllers.${name}`)}</th>`)}</tr></thead>
    <tbody>${objects.map((each) => html`<${ObjectRow} key=${each.object} each=${each} />`)}</tbody></table></div>`;
}

/** @param {{ each: any }} props */
function ObjectRow({ each }) {
  const [last] = each.reconciles;
  const level = resultLevel(last.result);
  return html`<tr>
    <th scope="row"><${ObjectLink} resource=${each.resource} object=${each.object} parameters=${{ tab: "reconciles" }} /></th>
    <td class="message"><div class="result-line"><span class=${`health ${level}`}><${Icon} name=${level} /><span>${t(`controllers.result_${last.result}`)}</span></span>
      ${each.failures > 1 && html`<span class="soft">${t("controllers.attempts", { count: each.failures })}</span>`}</div>
      ${last.error && html`<p class="error-text" translate=${false}>${safeMessage(last.error)}</p>`}</td>
    <td class="message secondary"><${Triggers} reconcile=${last} /></td>
    <td><${Age} at=${last.started} /></td>
    <td class="secondary" translate=${false}>${shortDuration(last.seconds)}</td>
    <td><${NextTry} each=${each} /></td>
  </tr>`;
}
