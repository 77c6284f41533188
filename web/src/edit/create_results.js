/** Results of a creation, one for each document. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { noticeOf } from "../frame/notices.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { safeMessage } from "../transport/errors.js";

const LEVELS = { created: "good", exists: "warn", refused: "bad" };

/** @param {{ results: import("./create_session.js").Result[] }} props */
export function Results({ results }) {
  if (results.length === 0) return null;
  return html`<section class="code-problems" aria-label=${t("create.results")} role="region"><ul role="list">
    ${results.map((result, i) => html`<li key=${i} class="code-problem result"><${Icon} name=${LEVELS[result.state]} class=${LEVELS[result.state]} />
      ${result.kind && result.state !== "refused"
        ? html`<a translate=${false} href=${objectAddress(result.kind, result.namespace, result.name)}>${result.title}</a>`
        : html`<span translate=${false}>${safeMessage(result.title)}</span>`}
      <span>${t(`create.${result.state}`)}</span>
      ${result.state === "refused" && html`<span class="code-message" translate=${false}>${result.error?.status ? noticeOf(result.error).message : safeMessage(result.error?.message)}</span>`}</li>`)}
  </ul></section>`;
}
