/** What is new, as a list of links. */
import { html } from "../frame/html.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";

/** @param {{ changes: import("./changes.js").Change[], ready: boolean }} props */
export function Changes({ changes, ready }) {
  if (changes.length === 0) return html`<p class="soft" role="status">${t(ready ? "home.no_changes" : "app.loading")}</p>`;
  return html`<ul class="home-list" role="list">${changes.map((change) => html`<${Line} key=${change.row.uid} change=${change} />`)}</ul>`;
}

/** @param {{ change: import("./changes.js").Change }} props */
function Line({ change: { kind, row, at, created, manager } }) {
  const { name, namespace = "" } = row.metadata;
  return html`<li><span class="home-what"><a translate=${false} href=${objectAddress(kind, namespace, name)}>${kind.kind} ${name}</a>
      ${namespace && html`<span class="soft" translate=${false}>${namespace}</span>`}</span>
    <span class="soft home-how">${manager ? t(created ? "home.created" : "home.changed", { manager }) : t("events.created")}</span>
    <span class="soft"><${Age} at=${at} /></span></li>`;
}
