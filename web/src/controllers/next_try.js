/** When an object is reconciled again. */
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { fullInstant, humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";

/** @param {{ each: { paused?: boolean, nextDue: string | null, runningSince: string | null, reconciles: any[] } }} props */
export function NextTry({ each }) {
  if (each.runningSince) return html`<span class="health progress">${t("controllers.running")}</span>`;
  if (each.paused) return html`<span class="soft">${t("reconciles.paused")}</span>`;
  if (!each.nextDue) return html`<span class="soft">${t("controllers.after_change")}</span>`;
  const ms = Date.parse(each.nextDue);
  const left = (ms - now.value) / 1000;
  const text = left <= 0 ? t("controllers.due") : t("controllers.in", { time: humanDuration(Math.max(1, left)) });
  return html`<time datetime=${each.nextDue} title=${fullInstant(ms)}>${text}</time>`;
}
