/** The lines of logs: only those that are visible are in the document. The end is followed until one scrolls up. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { unfolded } from "./line.js";
import { LogLine } from "./log_line.js";
import { ROW_HEIGHT, columnsOf, lineAt, rowsAbove } from "./measure.js";

const OVERSCAN = 10;
/** Columns of the label of a container, at most. */
const LABEL_MAX = 26;
const LABEL_MAX_NARROW = 9;
const TIME = 13;
/** Pixels around the text of a line: the fold, the distances. */
const AROUND = 44;
const SEARCHED = 5000;

/** @typedef {import("./line.js").Line} Line */

/** @param {{ streams: import("./streams.js").LogStreams, options: import("./options.js").Options, matcher: import("./matcher.js").Matcher }} props */
export function LogLines({ streams, options, matcher }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const ruler = useRef(/** @type {HTMLSpanElement | null} */ (null));
  const top = useSignal(0);
  const size = useSignal({ width: 800, height: 600, character: 8 });
  const opened = useSignal(/** @type {ReadonlySet<Line>} */ (new Set()));
  const anchor = useRef(/** @type {{ line: Line, index: number, offset: number } | null} */ (null));
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const measure = () => {
      const character = (ruler.current?.getBoundingClientRect().width ?? 800) / 100 || 8;
      size.value = { width: element.clientWidth, height: element.clientHeight, character };
    };
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);

  streams.version.value;
  const lines = streams.selection;
  const sources = streams.sources.value;
  const { width, height, character } = size.value;
  const label = sources.length > 1 ? Math.min(width < 560 ? LABEL_MAX_NARROW : LABEL_MAX, Math.max(...sources.map((each) => each.label.length)) + 2) : 0;
  const columns = Math.max(10, Math.floor((width - AROUND - (label ? 12 : 0) - (options.times ? 12 : 0)) / character - label - (options.times ? TIME : 0)));
  const uniform = !options.wrap && opened.value.size === 0;
  const rowsOf = (/** @type {Line} */ line) => {
    let rows = 1;
    if (options.wrap) {
      if (line.columns < 0) line.columns = columnsOf(line.text);
      rows = Math.max(1, Math.ceil(line.columns / columns));
    }
    return rows + (opened.value.has(line) ? (unfolded(line)?.length ?? 0) : 0);
  };
  const above = uniform ? null : rowsAbove(lines, rowsOf);
  const rowOf = (/** @type {number} */ index) => (above ? above[index] : index);
  const total = rowOf(lines.length);
  const at = (/** @type {number} */ row) => (above ? lineAt(above, Math.max(0, row)) : Math.max(0, Math.min(lines.length - 1, row)));
  const first = lines.length ? Math.max(0, at(Math.floor(top.value / ROW_HEIGHT) - OVERSCAN)) : 0;
  const last = lines.length ? Math.min(lines.length, at(Math.ceil((top.value + height) / ROW_HEIGHT) + OVERSCAN) + 1) : 0;

  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const removed = streams.removed;
    streams.removed = 0;
    if (!streams.paused.peek()) element.scrollTop = element.scrollHeight;
    else if (anchor.current) {
      const index = find(lines, anchor.current, removed);
      if (index >= 0) element.scrollTop = rowOf(index) * ROW_HEIGHT + anchor.current.offset;
    }
    remember();
  });
  const remember = () => {
    const position = scroller.current?.scrollTop ?? 0;
    top.value = position;
    if (!lines.length) return;
    const index = at(Math.floor(position / ROW_HEIGHT));
    anchor.current = { line: lines.at(index), index, offset: position - rowOf(index) * ROW_HEIGHT };
  };
  const scrolled = () => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - ROW_HEIGHT;
    if (atEnd) follow(streams);
    else if (element.scrollTop < top.peek()) streams.paused.value = true;
    remember();
  };
  const toEnd = () => {
    follow(streams);
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    element.scrollTop = element.scrollHeight;
    element.focus({ preventScroll: true });
  };
  const toggle = (/** @type {Line} */ line) => {
    streams.paused.value = true;
    const next = new Set([...opened.value].filter((each) => !each.dropped));
    if (!next.delete(line)) next.add(line);
    opened.value = next;
  };
  const shown = [];
  for (let i = first; i < last; i++) {
    const line = lines.at(i);
    shown.push(html`<${LogLine} key=${line.id} line=${line} rows=${rowOf(i + 1) - rowOf(i)} options=${options} matcher=${matcher}
      labelled=${label > 0} open=${opened.value.has(line)} onToggle=${toggle} />`);
  }
  return html`<div class="log-frame">
    <div class=${options.wrap ? "log-scroll wraps" : "log-scroll"} role="log" aria-live="off" tabindex="0" ref=${scroller} aria-label=${t("logs.label")} onScroll=${scrolled}>
      <span class="log-ruler" aria-hidden="true" ref=${ruler}>${"0".repeat(100)}</span>
      <div class="log-all" translate=${false} style=${{ height: `${total * ROW_HEIGHT}px`, "--label": `${label}ch`, "--log-colours": "1" }}>
        <div class="log-shown" style=${{ transform: `translateY(${rowOf(first) * ROW_HEIGHT}px)` }}>${shown}</div>
      </div>
    </div>
    ${streams.paused.value && html`<button type="button" class="button log-resume" onClick=${toEnd}><${Icon} name="down" />
      ${streams.unread.value ? t("logs.unread", { count: streams.unread.value }) : t("logs.resume")}</button>`}
  </div>`;
}

/** @param {import("./streams.js").LogStreams} streams */
function follow(streams) {
  streams.paused.value = false;
  streams.unread.value = 0;
}

/**
 * Return the index of a line that has moved; -1 if it is not found.
 * @param {import("./selection.js").Selection} lines
 * @param {{ line: Line, index: number }} before
 * @param {number} removed
 */
function find(lines, { line, index }, removed) {
  const expected = Math.max(0, index - removed);
  for (let distance = 0; distance < SEARCHED; distance++) {
    if (expected + distance < lines.length && lines.at(expected + distance) === line) return expected + distance;
    if (expected - distance >= 0 && expected - distance < lines.length && lines.at(expected - distance) === line) return expected - distance;
  }
  return -1;
}
