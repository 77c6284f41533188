/** Revisions of an object as a list; only the visible ones are in the document. Arrow keys choose one. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { clockFormat, t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";

/** Height of a revision in pixels; the style sheet has the same. */
const HEIGHT = 58;
const OVERSCAN = 6;
const PATHS_MAX = 2;

/**
 * @typedef {import("./revisions.js").Revision} Revision
 * @param {{ revisions: Revision[], chosen: Revision | undefined, against: string, tugs: Set<string>, onChoose: (revision: Revision) => void,
 *   onCompare: (revision: Revision) => void, onEnd: () => void, children?: any }} props
 * `against`: revision with which the chosen one is compared. `onEnd` is called when the last one becomes visible. `children` follow the last one.
 */
export function RevisionList({ revisions, chosen, against, tugs, onChoose, onCompare, onEnd, children }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const top = useSignal(0);
  const height = useSignal(600);
  const first = useComputed(() => Math.max(0, Math.floor(top.value / HEIGHT) - OVERSCAN));
  const last = Math.min(revisions.length, Math.ceil((top.value + height.value) / HEIGHT) + OVERSCAN);
  const at = chosen ? revisions.indexOf(chosen) : -1;
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    if (last === revisions.length) onEnd();
  }, [last === revisions.length, revisions.length]);
  useEffect(() => {
    const element = scroller.current;
    if (!element || at < 0) return;
    if (at * HEIGHT < element.scrollTop) element.scrollTop = at * HEIGHT;
    else if ((at + 1) * HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * HEIGHT - element.clientHeight;
  }, [chosen?.revision]);
  /** @type {Record<string, number>} */
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: revisions.length - 1, PageDown: at + 8, PageUp: at - 8 };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = revisions[Math.max(0, Math.min(revisions.length - 1, moves[event.key]))];
    if (next) onChoose(next);
  };
  return html`<div class="revisions" ref=${scroller} onScroll=${() => (top.value = scroller.current?.scrollTop ?? 0)}>
    <div class="revision-lines" role="listbox" tabindex="0" aria-label=${t("history.list")} aria-activedescendant=${at >= first.value && at < last ? `revision-${revisions[at].revision}` : null}
      style=${{ height: `${revisions.length * HEIGHT}px` }} onKeyDown=${keyed}>
      ${revisions.slice(first.value, last).map((revision, i) => html`<${Line} key=${revision.revision} revision=${revision} index=${first.value + i} count=${revisions.length}
        chosen=${revision === chosen} against=${revision.revision === against} tugs=${tugs} onChoose=${(/** @type {MouseEvent} */ event) => (event.shiftKey ? onCompare : onChoose)(revision)} />`)}
    </div>
    ${children}
  </div>`;
}

/** @param {{ revision: Revision, index: number, count: number, chosen: boolean, against: boolean, tugs: Set<string>, onChoose: (event: MouseEvent) => void }} props */
function Line({ revision, index, count, chosen, against, tugs, onChoose }) {
  const { revision: number, time, actor, fields } = revision;
  const pulled = fields.some(({ path }) => tugs.has(path));
  return html`<div class=${`revision${chosen ? " active" : ""}${against ? " against" : ""}`} role="option" id=${`revision-${number}`} aria-selected=${chosen} aria-setsize=${count} aria-posinset=${index + 1}
    style=${{ transform: `translateY(${index * HEIGHT}px)` }} onClick=${onChoose}>
    <span class="revision-icon"><${Icon} name=${iconOf(revision)} /></span>
    <span class="revision-head"><strong translate=${false}>${visible(actor.manager || actor.user) || "–"}</strong>
      ${actor.subresource && html`<span class="tag" translate=${false}>${visible(actor.subresource)}</span>`}
      ${pulled && html`<span class="tag warn"><${Icon} name="warn" />${t("history.tug")}</span>`}
      ${against && html`<span class="tag">${t("history.against")}</span>`}
      <span class="spacer" />${time && html`<${Age} at=${time} />`}</span>
    <span class="revision-what soft"><span class="ellipsis"><${What} revision=${revision} /></span>
      ${time && html`<span class="revision-clock">${clockFormat().format(Date.parse(time))}</span>`}</span>
  </div>`;
}

/** @param {Revision} revision */
function iconOf({ type, fields, known }) {
  if (type === "ADDED") return "plus";
  if (type === "DELETED") return "trash";
  if (known && fields.length > 0 && fields.every(({ path }) => path.startsWith("status"))) return "progress";
  return "edit";
}

/** @param {{ revision: Revision }} props */
function What({ revision: { type, fields, known } }) {
  if (type === "ADDED") return t("history.created");
  if (type === "DELETED") return t("history.deleted");
  if (!known) return t("history.unknown");
  if (fields.length === 0) return t("history.nothing");
  const names = fields.slice(0, PATHS_MAX).map(({ path }) => shortPath(path)).join(", ");
  return html`<span translate=${false}>${visible(names)}</span>${fields.length > PATHS_MAX && html` <span>${t("history.more_fields", { count: fields.length - PATHS_MAX })}</span>`}`;
}

/**
 * Return the end of a path: the last names that tell fields apart.
 * @param {string} path
 */
export function shortPath(path) {
  if (path.length <= 44) return path;
  const cut = path.slice(-43);
  const dot = cut.indexOf(".");
  return `…${dot >= 0 && dot < 24 ? cut.slice(dot + 1) : cut}`;
}
