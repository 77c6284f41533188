/** Warning about fields that two managers change in turn. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";

const SHOWN_MAX = 3;

/** @param {{ tugs: import("./tug_of_war.js").Tug[] }} props */
export function TugLine({ tugs }) {
  if (tugs.length === 0) return null;
  return html`<div class="tugs" role="status"><${Icon} name="warn" /><div>
    ${tugs.slice(0, SHOWN_MAX).map(({ path, managers, times }) => html`<p key=${path}><code translate=${false}>${visible(path)}</code> <span>${t("history.tug_of", { managers: visible(managers.join(", ")), count: times })}</span></p>`)}
    ${tugs.length > SHOWN_MAX && html`<p>${t("history.more_fields", { count: tugs.length - SHOWN_MAX })}</p>`}
    <p class="soft">${t("history.tug_hint")}</p></div></div>`;
}
