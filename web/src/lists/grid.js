/** A list as a grid: only the visible rows are in the document. Arrow keys move between rows, Enter opens one. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { momentText } from "../past/moment.js";
import { go, query, setQuery, withQuery } from "../routes/location.js";
import { compareAddress, editAddress, objectAddress } from "../routes/routes.js";
import { columnWidths } from "../table/columns.js";
import { sortOf } from "../table/order.js";
import { t } from "../texts/catalogue.js";
import { GridRow, rowId } from "./row.js";
import { rowActions } from "./row_actions.js";

/** @typedef {import("../table/store.js").Row} Row */

/** Heights of a row in pixels; the style sheet has the same. */
export const ROW_HEIGHT = 34;
const NARROW_ROW_HEIGHT = 56;
const OVERSCAN = 8;
/** Characters that a cell needs besides its text. */
const PLAIN = 2.500;
const WITH_ICON = 5;
const narrowScreen = matchMedia("(max-width: 640px)");

/**
 * @param {{ view: import("./view.js").ListView, kind: import("../discovery/kinds.js").Kind, label: string, marks: import("../bulk/marks.js").Marks }} props
 */
export function Grid({ view, kind, label, marks }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const act = useRef({}).current;
  const top = useSignal(0);
  const height = useSignal(800);
  const active = useSignal("");
  const narrow = useSignal(narrowScreen.matches);
  const rowHeight = narrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const layout = useComputed(() => layoutOf(view));

  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    const changed = () => (narrow.value = narrowScreen.matches);
    narrowScreen.addEventListener("change", changed);
    return () => {
      resized.disconnect();
      narrowScreen.removeEventListener("change", changed);
    };
  }, []);

  const rows = view.rows.value;
  const columns = view.columns.value;
  const index = () => rows.findIndex((row) => row.uid === active.value);
  const compared = query.value.get("compare") ?? "";
  const address = (/** @type {import("../table/store.js").Row} */ row) => {
    const namespace = kind.namespaced ? (row.metadata.namespace ?? "") : "";
    if (!compared || compared === placeOf(row)) return objectAddress(kind, namespace, row.metadata.name);
    const [name, chosen = ""] = compared.split("/").reverse();
    return compareAddress(kind, chosen, name, { with: placeOf(row) });
  };
  const compare = (/** @type {import("../table/store.js").Row | undefined} */ row) => {
    if (row && compared && compared !== placeOf(row)) go(address(row));
    else if (row) setQuery({ compare: compared ? "" : placeOf(row) });
  };
  const move = (/** @type {number} */ to) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (!row) return;
    active.value = row.uid;
    scroller.current?.focus({ preventScroll: true });
    reveal(scroller.current, rows.indexOf(row), rowHeight);
  };
  useEffect(() => {
    rowActions.value = {
      next: () => move(index() + 1),
      previous: () => move(index() - 1),
      first: () => move(0),
      last: () => move(rows.length - 1),
      open: () => rows[index()] && go(address(rows[index()])),
      compare: () => compare(rows[index()]),
      mark: () => rows[index()] && !momentText.peek() && marks.toggle(rows[index()]),
      tab: (name) => rows[index()] && go(withQuery(address(rows[index()]), { tab: name === "overview" ? "" : name })),
      edit: () => {
        const { metadata } = rows[index()] ?? {};
        if (metadata && !momentText.peek()) go(editAddress(kind, metadata.namespace ?? "", metadata.name));
      },
    };
  });
  useEffect(() => () => {
    rowActions.value = null;
  }, []);

  const first = Math.max(0, Math.floor(top.value / rowHeight) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / rowHeight) + OVERSCAN);
  const page = Math.max(1, Math.floor(height.value / rowHeight) - 2);
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => move(index() + 1),
    ArrowUp: () => move(index() - 1),
    PageDown: () => move(index() + page),
    PageUp: () => move(index() - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => rowActions.value?.open(),
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  };
  const activeIndex = index();
  Object.assign(act, {
    choose: (/** @type {Row} */ row) => (active.value = row.uid),
    compare,
    mark: (/** @type {Row} */ row, /** @type {boolean} */ range) => marks.toggle(row, { range: range ? rows : null }),
  });
  return html`<div class="grid-frame">
    <div class="grid" role="grid" tabindex="0" ref=${scroller} aria-label=${label} aria-rowcount=${rows.length + 1}
      aria-colcount=${columns.length} aria-activedescendant=${activeIndex >= first && activeIndex < last ? rowId(activeIndex) : null}
      onScroll=${() => (top.value = scroller.current?.scrollTop ?? 0)} onKeyDown=${onKeyDown}>
      <div class="grid-inner" style=${{ "--columns": layout.value.template, "--columns-width": `${layout.value.width}ch`, "--rows-height": `${rows.length * rowHeight}px` }}>
        <${Header} columns=${columns} />
        <div class="grid-body" role="rowgroup">
          ${rows.slice(first, last).map((row, i) => html`<${GridRow} key=${row.uid} row=${row} index=${first + i} columns=${columns} rows=${rows} view=${view}
            href=${address(row)} top=${(first + i) * rowHeight} active=${row.uid === active.value || (compared !== "" && compared === placeOf(row))}
            marked=${marks.shown.value ? marks.rows.value.has(row.uid) : null} act=${act} />`)}
        </div>
      </div>
    </div>
  </div>`;
}

/** @param {import("../table/store.js").Row} row */
function placeOf({ metadata: { namespace, name } }) {
  return namespace ? `${namespace}/${name}` : name;
}

/** @param {{ columns: import("../table/columns.js").ListColumn[] }} props */
function Header({ columns }) {
  const sort = sortOf(query.value.get("sort") ?? "");
  const toggle = (/** @type {string} */ id) => {
    const next = sort?.column !== id ? id : sort.descending ? "" : `-${id}`;
    setQuery({ sort: next });
  };
  return html`<div role="rowgroup" class="grid-head"><div role="row" aria-rowindex="1" class="row head">
    ${columns.map((column, i) => {
      const title = column.title || t("column.namespace");
      const direction = sort?.column === column.id ? (sort.descending ? "descending" : "ascending") : "none";
      return html`<div role="columnheader" key=${column.id} aria-colindex=${i + 1} aria-sort=${direction} class="cell">
        <button type="button" class="sort" title=${column.description || null} aria-label=${t("list.sort", { column: title })}
          onClick=${() => toggle(column.id)}>
          <span translate=${!column.title}>${title}</span>
          ${direction !== "none" && html`<${Icon} name=${direction === "ascending" ? "up" : "down"} />`}
        </button>
      </div>`;
    })}
  </div></div>`;
}

/** @param {import("./view.js").ListView} view */
function layoutOf(view) {
  const columns = view.columns.value;
  const present = columnWidths(columns, view.store.version.value ? view.rows.peek() : []);
  // A column never becomes narrower, so that the others keep their place.
  const widths = view.widths?.columns === columns ? present.map((each, i) => Math.max(each, view.widths?.values[i] ?? 0)) : present;
  view.widths = { columns, values: widths };
  const minima = columns.map((column, i) => Math.ceil(widths[i] * 0.92 + (column.kind === "text" && !column.numeric ? WITH_ICON : PLAIN)));
  const template = columns.map((column, i) => `minmax(${minima[i]}ch, ${column.kind === "name" ? "3fr" : "1fr"})`).join(" ");
  return { template, width: minima.reduce((sum, each) => sum + each, 0) };
}

/**
 * Scroll so that a row is visible below the header.
 * @param {HTMLDivElement | null} element
 * @param {number} index
 * @param {number} rowHeight
 */
function reveal(element, index, rowHeight) {
  if (!element) return;
  const start = index * rowHeight;
  const visible = element.clientHeight - ROW_HEIGHT;
  if (start < element.scrollTop) element.scrollTop = start;
  else if (start + rowHeight > element.scrollTop + visible) element.scrollTop = start + rowHeight - visible;
}
