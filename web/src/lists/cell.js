/** One cell of a list. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { textOf } from "../table/columns.js";

const EMPTY = new Set(["", "<none>", "<unset>"]);

/**
 * Return a cell. It is no component of its own: while a list scrolls, hundreds are drawn in each frame.
 * @param {{ row: import("../table/store.js").Row, health: import("../health/row_health.js").Health, href: string, box: any }} shown
 *   `box`: what marks the row, before its name
 * @param {import("../table/columns.js").ListColumn} column
 * @param {number} position
 */
export function cell({ row, health, href, box }, column, position) {
  const text = textOf(row, column);
  const key = column.id;
  const common = { role: "gridcell", "aria-colindex": position + 1, "data-title": column.kind === "text" ? column.title : null };
  if (column.kind === "name") {
    return html`<div key=${key} ...${common} class="cell cell-name">${box}
      <a href=${href} tabindex="-1" translate=${false} title=${text}>${text}</a>
    </div>`;
  }
  if (column.kind === "age") return html`<div key=${key} ...${common} class="cell cell-age"><${Age} at=${row.metadata.creationTimestamp} /></div>`;
  if (column.index >= 0 && column.index === health.column && health.level !== "neutral") {
    return html`<div key=${key} ...${common} class="cell">
      <span class=${`health ${health.level}`} title=${text}>
        <${Icon} name=${health.level} /><span class="visually-hidden">${t(`health.${health.level}`)}</span>
        <span class="ellipsis" translate=${false}>${health.text && column.kind === "text" && !text ? health.text : text}</span>
      </span>
    </div>`;
  }
  if (EMPTY.has(text)) return html`<div key=${key} ...${common} class="cell none">–</div>`;
  return html`<div key=${key} ...${common} class=${column.numeric ? "cell cell-number" : "cell"} translate=${false} title=${text.length > 12 ? text : null}>
    <span class="ellipsis">${text}</span>
  </div>`;
}
