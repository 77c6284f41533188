/** One cell of a list. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { textOf } from "../table/columns.js";

const EMPTY = new Set(["", "<none>", "<unset>"]);

/**
 * @param {{ row: import("../table/store.js").Row, column: import("../table/columns.js").ListColumn,
 *   health: import("../health/row_health.js").Health, href: string, position: number, box?: any }} props
 * `box`: what marks the row, before its name
 */
export function Cell({ row, column, health, href, position, box = null }) {
  const text = textOf(row, column);
  const common = { role: "gridcell", "aria-colindex": position + 1, "data-title": column.kind === "text" ? column.title : null };
  if (column.kind === "name") {
    return html`<div ...${common} class="cell cell-name">${box}
      <a href=${href} tabindex="-1" translate=${false} title=${text}>${text}</a>
    </div>`;
  }
  if (column.kind === "age") return html`<div ...${common} class="cell cell-age"><${Age} at=${row.metadata.creationTimestamp} /></div>`;
  if (column.index >= 0 && column.index === health.column && health.level !== "neutral") {
    return html`<div ...${common} class="cell">
      <span class=${`health ${health.level}`} title=${text}>
        <${Icon} name=${health.level} /><span class="visually-hidden">${t(`health.${health.level}`)}</span>
        <span class="ellipsis" translate=${false}>${health.text && column.kind === "text" && !text ? health.text : text}</span>
      </span>
    </div>`;
  }
  if (EMPTY.has(text)) return html`<div ...${common} class="cell none">–</div>`;
  return html`<div ...${common} class=${column.numeric ? "cell cell-number" : "cell"} translate=${false} title=${text.length > 12 ? text : null}>
    <span class="ellipsis">${text}</span>
  </div>`;
}
