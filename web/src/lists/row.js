/** One row of a list. */
import { Component } from "preact";
import { html } from "../frame/html.js";
import { go } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { cell } from "./cell.js";

/** @param {number} index */
export function rowId(index) {
  return `row-${index}`;
}

/** A row. It is drawn again if what it shows has changed, not with each step of scrolling. `act`: what its parts do. */
export class GridRow extends Component {
  /** @param {any} props @param {unknown} state */
  shouldComponentUpdate(props, state) {
    const before = /** @type {any} */ (this.props);
    return state !== this.state || Object.keys(props).some((name) => props[name] !== before[name]);
  }

  /** @param {any} props */
  render({ row, index, columns, view, href, top, active, marked, act }) {
    const open = (/** @type {MouseEvent} */ event) => {
      act.choose(row);
      if (/** @type {Element} */ (event.target).closest("a, input") || String(getSelection())) return;
      if (event.ctrlKey || event.metaKey) return act.compare(row);
      go(href);
    };
    const box = marked !== null && html`<input type="checkbox" tabindex="-1" aria-label=${t("bulk.mark", { name: row.metadata.name })} checked=${marked}
      onClick=${(/** @type {MouseEvent} */ event) => act.mark(row, event.shiftKey)} />`;
    const shown = { row, health: view.healthOf(row), href, box };
    return html`<div role="row" id=${rowId(index)} aria-rowindex=${index + 2} class=${active ? "row active" : "row"}
      aria-selected=${active} style=${{ transform: `translateY(${top}px)` }} onClick=${open}>
      ${columns.map((/** @type {any} */ column, /** @type {number} */ position) => cell(shown, column, position))}
    </div>`;
  }
}
