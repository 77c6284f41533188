/** Objects with problems: each with its cause, and what that means. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { meaningOf } from "../health/reasons.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { ProblemText } from "./problem_text.js";

const SHOWN = 8;

/** @param {{ troubles: import("./troubles.js").Trouble[], ready: boolean, partly: boolean }} props */
export function Troubles({ troubles, ready, partly }) {
  const all = useSignal(false);
  if (troubles.length === 0) {
    return html`<p class="quiet-line home-good" role="status">${ready ? html`<${Icon} name="good" class="good" />${t("home.no_problems")}` : t("app.loading")}</p>`;
  }
  const shown = all.value ? troubles : troubles.slice(0, SHOWN);
  return html`<section class="troubles" aria-labelledby="troubles-title">
    <h2 id="troubles-title"><${Icon} name="bad" class="bad" />${t("home.problems", { count: troubles.length })}</h2>
    <ul role="list">${shown.map((trouble) => html`<${Line} key=${trouble.row.uid} trouble=${trouble} />`)}</ul>
    ${troubles.length > shown.length && html`<button type="button" class="button quiet" onClick=${() => (all.value = true)}>${t("detail.more", { count: troubles.length })}</button>`}
    ${partly && html`<p class="soft small-text">${t("home.partly")}</p>`}
  </section>`;
}

/** @param {{ trouble: import("./troubles.js").Trouble }} props */
function Line({ trouble }) {
  const { kind, row, level, causes, status, problem, at } = trouble;
  const { name, namespace = "" } = row.metadata;
  const meaning = [...causes.map((cause) => cause.status), status].map(meaningOf).find(Boolean) ?? "";
  return html`<li><${Icon} name=${level} class=${level} /><span class="visually-hidden">${t(`health.${level}`)}</span>
    <div class="trouble-body">
      <p class="trouble-head"><a translate=${false} href=${objectAddress(kind, namespace, name)}>${kind.kind} ${name}</a>
        ${namespace && html`<span class="soft" translate=${false}>${namespace}</span>`}</p>
      <p><${ProblemText} problem=${problem} status=${status} />${causes.map((cause, i) => html`<span key=${i} class="trouble-cause">
        <a href=${objectAddress(cause.kind, cause.row.metadata.namespace ?? "", cause.row.metadata.name)}>${t("home.cause", { count: cause.count, kind: cause.kind.kind, status: cause.status })}</a></span>`)}</p>
      ${meaning && html`<p class="soft">${meaning}</p>`}
    </div>
    <span class="soft trouble-age"><${Age} at=${at} /></span></li>`;
}
