/** States of a page without content: loading, empty. */
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { t } from "../texts/catalogue.js";

export function Loading() {
  return html`<div class="state loading" role="status">
    <div class="skeleton" aria-hidden="true"><i /><i /><i /><i /><i /></div>
    <span class="visually-hidden">${t("app.loading")}</span>
  </div>`;
}

/**
 * @param {{ icon: string, title: string, hint?: string, whole?: boolean, children?: any }} props
 * `whole`: nothing else is on the page, so the title is its heading.
 */
export function Empty({ icon, title, hint = "", whole = false, children = null }) {
  return html`<div class="state empty">
    <div class="empty-icon"><${Icon} name=${icon} /></div>
    <${whole ? "h1" : "h2"} class="empty-title">${title}<//>
    ${hint && html`<p>${hint}</p>`}
    ${children && html`<div class="empty-actions">${children}</div>`}
  </div>`;
}
