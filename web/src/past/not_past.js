/** What the page shows in the past instead of a part that changes objects, or that knows the present only. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty } from "../frame/states.js";
import { t } from "../texts/catalogue.js";
import { leave } from "./past_bar.js";

/** Page that would change objects. */
export function ReadOnly() {
  return html`<${Empty} whole icon="lock" title=${t("past.read_only")} hint=${t("past.read_only_hint")}><${Leave} /><//>`;
}

/** Tab of an object without a past. */
export function PresentOnly() {
  return html`<${Empty} icon="history" title=${t("past.present_only")} hint=${t("past.present_only_hint")}><${Leave} /><//>`;
}

function Leave() {
  return html`<button type="button" class="button primary" onClick=${leave}><${Icon} name="right" />${t("past.leave")}</button>`;
}
