/** One problem as a sentence. */
import { html } from "../frame/html.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { safeMessage } from "../transport/errors.js";

/** @param {{ problem?: import("../health/row_health.js").Problem, owned?: import("./related.js").Owned }} props */
export function ProblemLine({ problem, owned }) {
  if (owned) {
    const { kind, row, status } = owned;
    return html`<a translate=${false} href=${objectAddress(kind, row.metadata.namespace ?? "", row.metadata.name)}>${kind.kind} ${row.metadata.name}</a>
      <span translate=${false}> ${status}</span>`;
  }
  if (!problem) return null;
  const time = problem.at ? humanDuration((now.value - Date.parse(problem.at)) / 1000) : "";
  return html`<span>${safeMessage(t(problem.key, { time, ...problem.values }))}</span>`;
}
