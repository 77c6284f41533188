/** What an object owns, as an indented table with health. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";

const SHOWN = 50;

/** @param {{ related: import("./related.js").Related }} props */
export function OwnedTable({ related }) {
  const all = useSignal(false);
  const owned = related.owned.value;
  if (owned.length === 0) return null;
  const shown = all.value ? owned : owned.slice(0, SHOWN);
  return html`<section><h2>${t("detail.owned")} <span class="count" translate=${false}>${owned.length}</span></h2>
    <div class="table-frame" role="region" tabindex="0" aria-label=${t("detail.owned")}><table class="plain owned">
      <thead><tr><th scope="col">${t("detail.name")}</th><th scope="col">${t("palette.kind")}</th><th scope="col">${t("detail.status")}</th><th scope="col">${t("detail.created")}</th></tr></thead>
      <tbody>${shown.map(({ kind, row, depth, health, status }) => html`<tr key=${row.uid}>
        <th scope="row" class=${`depth-${Math.min(depth, 5)}`}><a translate=${false} href=${objectAddress(kind, row.metadata.namespace ?? "", row.metadata.name)}>${row.metadata.name}</a></th>
        <td translate=${false}>${kind.kind}</td>
        <td>${health.level === "neutral" ? html`<span class="none">–</span>` : html`<span class=${`health ${health.level}`}><${Icon} name=${health.level} />
          <span class="visually-hidden">${t(`health.${health.level}`)}</span><span translate=${false}>${status}</span></span>`}</td>
        <td><${Age} at=${row.metadata.creationTimestamp} /></td></tr>`)}</tbody></table></div>
    ${owned.length > shown.length && html`<button type="button" class="button quiet" onClick=${() => (all.value = true)}>${t("detail.more", { count: owned.length })}</button>`}
  </section>`;
}
