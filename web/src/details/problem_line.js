/** One problem as a sentence, and what it means. */
import { html } from "../frame/html.js";
import { meaningOf } from "../health/reasons.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { safeMessage } from "../transport/errors.js";

const LINKS_MAX = 4;
/** States that the output of the program explains. */
const LOGGED = /crashloopbackoff|ended with|\berror\b|oomkilled/i;

/** @param {{ problem: import("../health/row_health.js").Problem, logs: string }} props `logs`: address of the logs; empty: none */
export function ProblemLine({ problem, logs }) {
  const time = problem.at ? humanDuration((now.value - Date.parse(problem.at)) / 1000) : "";
  const text = safeMessage(t(problem.key, { time, ...problem.values }));
  return html`<span>${text}</span><${Meaning} text=${text} logs=${logs} />`;
}

/** @param {{ group: import("./owned_problems.js").OwnedProblem }} props */
export function OwnedProblemLine({ group: { status, owned, message, reason } }) {
  const [{ kind: first, row: { metadata } }] = owned;
  const logs = first.plural === "pods" ? objectAddress(first, metadata.namespace ?? "", metadata.name, { tab: "logs" }) : "";
  return html`<strong translate=${false}>${status}</strong>
    ${owned.slice(0, LINKS_MAX).map(({ kind, row }) => html` <a key=${row.uid} translate=${false} href=${objectAddress(kind, row.metadata.namespace ?? "", row.metadata.name)}>${kind.kind} ${row.metadata.name}</a>`)}
    ${owned.length > LINKS_MAX && html` <span class="soft">${t("detail.and_more", { count: owned.length - LINKS_MAX })}</span>`}
    ${message && html`<p class="problem-message" translate=${false}>${safeMessage(message)}</p>`}<${Meaning} text=${meaningOf(status) ? status : reason} logs=${logs} />`;
}

/** @param {{ text: string, logs: string }} props */
function Meaning({ text, logs }) {
  const meaning = meaningOf(text);
  return meaning && html`<p class="soft">${meaning}${logs && LOGGED.test(text) && html` <a href=${logs}>${t("problem.logs")}</a>`}</p>`;
}
