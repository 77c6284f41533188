/** Table of the controllers of one process. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { serverAddress } from "../routes/routes.js";
import { numberFormat, t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { perMinute, shortDuration } from "./figures.js";
import { kindText } from "./object_link.js";

const COLUMNS = [
  ["name", ""],
  ["kind", "secondary"],
  ["failing", "figure"],
  ["queued", "figure"],
  ["waiting", "figure secondary"],
  ["oldest", "figure secondary"],
  ["workers", "figure secondary"],
  ["rate", "figure"],
  ["errors", "figure secondary"],
  ["total", "figure secondary"],
];

/** @param {{ reporter: import("./reporters.js").Reporter, controllers: import("./figures.js").Controller[], stale: boolean }} props */
export function ControllersTable({ reporter, controllers, stale }) {
  return html`<div class=${`table-frame${stale ? " stale" : ""}`} role="region" tabindex="0" aria-label=${t("controllers.list", { name: reporter.lease ? visible(reporter.title) : t("controllers.server") })}>
    <table class="plain controllers-table">
      <thead><tr>${COLUMNS.map(([name, place]) => html`<th scope="col" key=${name} class=${place || null} title=${t(`controllers.hint_${name}`)}>${t(`controllers.${name}`)}</th>`)}</tr></thead>
      <tbody>${controllers.map((each) => html`<${Row} key=${each.name} reporter=${reporter} each=${each} />`)}</tbody>
    </table></div>`;
}

/** @param {{ reporter: import("./reporters.js").Reporter, each: import("./figures.js").Controller }} props */
function Row({ reporter, each }) {
  const { queue, failing = 0 } = each;
  const isPlain = each.workers === undefined;
  const address = serverAddress("controllers", { of: reporter.id === "server" ? "" : reporter.id, controller: each.name });
  return html`<tr>
    <th scope="row" class="controller-name">${isPlain ? html`<span translate=${false}>${visible(each.name)}</span>` : html`<a translate=${false} href=${address}>${visible(each.name)}</a>`}</th>
    <td class="secondary" translate=${false}>${each.resource ? visible(kindText(each.resource)) : html`<span class="none">–</span>`}</td>
    <td class="figure">${failing > 0 ? html`<span class="health bad"><${Icon} name="bad" /><span translate=${false}>${count(failing)}</span></span>` : html`<${Zero} value=${isPlain ? undefined : 0} />`}</td>
    <td class="figure"><${Zero} value=${queue.depth} /></td>
    <td class="figure secondary"><${Zero} value=${queue.waiting} /></td>
    <td class="figure secondary" translate=${false}>${typeof queue.oldestSeconds === "number" ? shortDuration(queue.oldestSeconds) : html`<span class="none">–</span>`}</td>
    <td class="figure secondary" translate=${false}>${isPlain ? html`<span class="none">–</span>` : `${each.active} / ${each.workers}`}</td>
    <td class="figure" translate=${false}>${each.perSecond === undefined ? html`<span class="none">–</span>` : perMinute(each.perSecond)}</td>
    <td class="figure secondary" translate=${false}>${each.errorsPerSecond ? html`<span class="bad-text">${perMinute(each.errorsPerSecond)}</span>` : html`<${Zero} value=${each.errorsPerSecond} />`}</td>
    <td class="figure secondary" translate=${false}>${count(each.total)}</td>
  </tr>`;
}

/** @param {{ value: number | undefined }} props */
function Zero({ value }) {
  return html`<span class=${value ? null : "none"} translate=${false}>${value === undefined ? "–" : count(value)}</span>`;
}

/** @param {number} value */
function count(value) {
  return numberFormat.value.format(value);
}
