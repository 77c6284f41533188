/** One line: its time, its container, its text with colours and matches, and its object if it is unfolded. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { piecesOf as yamlPieces } from "../details/yaml_pieces.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { piecesOf, plainText, shown } from "./ansi.js";
import { LEVELS, unfolded } from "./line.js";
import { marked } from "./matcher.js";
import { ROW_HEIGHT, SHOWN_MAX } from "./measure.js";

/**
 * @param {{ line: import("./line.js").Line, rows: number, options: import("./options.js").Options, labelled: boolean, open: boolean,
 *   matcher: import("./matcher.js").Matcher, onToggle: (line: import("./line.js").Line) => void }} props
 */
export function LogLine({ line, rows, options, labelled, open, matcher, onToggle }) {
  const { source } = line;
  if (line.event) {
    return html`<div class="log-line note" style=${{ height: `${rows * ROW_HEIGHT}px` }}><span class="log-fold" />
      ${options.times && html`<span class="log-time">${timeOf(line.key)}</span>`}
      <span class="log-note"><${Icon} name=${line.text === "gone" ? "close" : "plus"} />${t(`logs.note.${line.text}`, { pod: source.pod })}</span></div>`;
  }
  const object = open || line.text.includes("{") ? unfolded(line) : null;
  const level = line.level >= 3 ? ` ${LEVELS[line.level]}` : "";
  return html`<div class=${`log-line${level}`} style=${{ height: `${rows * ROW_HEIGHT}px` }}>
    <span class="log-fold">${object && html`<button type="button" aria-expanded=${open} aria-label=${t("logs.unfold")} onClick=${() => onToggle(line)}><${Icon} name=${open ? "down" : "right"} /></button>`}</span>
    ${options.times && html`<time class="log-time" dateTime=${`${line.key}Z`} title=${`${line.key}Z`}>${timeOf(line.key)}</time>`}
    ${labelled && html`<span class=${`log-source s${source.colour}${source.state === "gone" ? " gone" : ""}`} title=${`${source.pod}/${source.container}`}><span class="ellipsis">${source.label}</span></span>`}
    <span class="log-text">${textOf(line, options, matcher)}
      ${open && object && html`<span class="log-object">${object.map((row, i) => html`<span class="log-row" key=${i}>${yamlPieces(visible(row)).map(([type, piece]) => (type ? html`<span class=${`y-${type}`}>${piece}</span>` : piece))}</span>`)}</span>`}
    </span>
  </div>`;
}

/**
 * @param {import("./line.js").Line} line
 * @param {import("./options.js").Options} options
 * @param {import("./matcher.js").Matcher} matcher
 */
function textOf(line, options, matcher) {
  const long = line.text.length > SHOWN_MAX;
  const text = long ? line.text.slice(0, SHOWN_MAX) : line.text;
  const plain = options.colours ? piecesOf(text) : [{ text: shown(plainText(text)), style: "" }];
  const pieces = matcher.hasText ? marked(plain, matcher.ranges(plain.map((each) => each.text).join(""))) : plain;
  return html`${pieces.map((piece) => {
    const { text: part, style } = piece;
    if ("hit" in piece && piece.hit) return html`<mark class=${style || null}>${part}</mark>`;
    return style ? html`<span class=${style}>${part}</span>` : part;
  })}${long && html`<span class="log-cut">${t(line.cut ? "logs.cut" : "logs.long", { count: line.text.length - SHOWN_MAX })}</span>`}`;
}

/** @param {string} key */
function timeOf(key) {
  const at = new Date(`${key.slice(0, 23)}Z`);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${key.slice(20, 23)}`;
}
