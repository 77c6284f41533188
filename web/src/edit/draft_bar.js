/** Question what is done with an edit that was not saved before the page was left. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";

/** @param {{ draft: import("./draft.js").Draft, changed: boolean, onRestore: () => void, onDiscard: () => void }} props */
export function DraftBar({ draft, changed, onRestore, onDiscard }) {
  return html`<div class="draft-bar" role="region" aria-label=${t("draft.label")}><${Icon} name="edit" />
    <p><span>${t("draft.found")}</span> <${Age} at=${new Date(draft.at).toISOString()} /> ${changed && html`<span class="soft">${t("draft.changed")}</span>`}</p>
    <div class="spacer" />
    <button type="button" class="button" onClick=${onRestore}>${t("draft.restore")}</button>
    <button type="button" class="button quiet" onClick=${onDiscard}>${t("draft.discard")}</button></div>`;
}
