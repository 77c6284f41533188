/** Page of a moment whose history the server has removed. */
import { html } from "../frame/html.js";
import { Empty } from "../frame/states.js";
import { RetentionOption } from "../history/retention.js";
import { t } from "../texts/catalogue.js";
import { leave } from "./past_bar.js";

export function Gone() {
  return html`<${Empty} icon="history" title=${t("past.gone")} hint=${t("past.gone_hint")}>
    <p><${RetentionOption} /></p><button type="button" class="button" onClick=${leave}>${t("past.leave")}</button><//>`;
}
