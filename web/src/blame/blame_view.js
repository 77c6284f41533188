/** Blame of an object: each line of its YAML with the manager that owns the field. A manager selects its lines. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { LAST_APPLIED } from "../details/secret.js";
import { piecesOf } from "../details/yaml_pieces.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Revisions } from "../history/revisions.js";
import { tugsOf } from "../history/tug_of_war.js";
import { query, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";
import { blameOf } from "./blame.js";
import { blamedLines, linesOf } from "./blamed_lines.js";

/** Height of a line in pixels; the style sheet has the same. */
const LINE_HEIGHT = 20;
const OVERSCAN = 20;

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any }} props */
export function BlameView({ kind, object }) {
  const blame = useMemo(() => blameOf(object), [object]);
  const lines = useMemo(() => blamedLines(object, blame), [object]);
  const chosen = query.value.get("manager") ?? "";
  const shown = useMemo(() => (chosen ? linesOf(lines, chosen) : lines), [lines, chosen]);
  const tugs = useTugs(kind, object);
  const choose = (/** @type {string} */ id) => setQuery({ manager: id === chosen ? "" : id });
  return html`<div class="blame">
    <div class="blame-managers" role="group" aria-label=${t("blame.managers")}>
      ${blame.managers.map((each) => html`<button type="button" class="toggle small-button manager" key=${each.id} aria-pressed=${each.id === chosen} onClick=${() => choose(each.id)}>
        <span class=${`swatch swatch-${swatchOf(blame, each)}`} aria-hidden="true"></span><span translate=${false}>${visible(each.manager)}</span>
        <span class="soft" translate=${false}>${[each.operation, each.subresource && `/${each.subresource}`].filter(Boolean).join(" ")}</span>
        <span class="soft">${t("detail.fields", { count: each.fields })}</span></button>`)}
    </div>
    ${object.metadata.annotations?.[LAST_APPLIED] !== undefined && html`<p class="blame-note soft"><${Icon} name="neutral" /><span><code translate=${false}>${LAST_APPLIED}</code> <span>${t("blame.last_applied")}</span></span></p>`}
    <${Lines} lines=${shown} blame=${blame} tugs=${tugs} onChoose=${choose} />
  </div>`;
}

/**
 * Return the fields that managers change in turn.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {any} object
 */
function useTugs(kind, object) {
  const { namespace = "", name, resourceVersion } = object.metadata;
  const revisions = useMemo(() => new Revisions(kind, namespace, name), []);
  useEffect(() => {
    revisions.older();
    return () => revisions.close();
  }, []);
  useEffect(() => {
    revisions.newer();
  }, [resourceVersion]);
  return useComputed(() => new Map(tugsOf(revisions.all.value).map((each) => [each.path, each]))).value;
}

/** @param {import("./blame.js").Blame} blame @param {import("./blame.js").Manager} manager */
function swatchOf({ managers }, manager) {
  return managers.indexOf(manager) % 6;
}

/** @param {{ lines: import("./blamed_lines.js").BlamedLine[], blame: import("./blame.js").Blame, tugs: Map<string, import("../history/tug_of_war.js").Tug>, onChoose: (id: string) => void }} props */
function Lines({ lines, blame, tugs, onChoose }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const top = useSignal(0);
  const height = useSignal(800);
  const range = useComputed(() => Math.floor(top.value / LINE_HEIGHT / OVERSCAN));
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const first = Math.max(0, (range.value - 1) * OVERSCAN);
  const last = Math.min(lines.length, first + Math.ceil(height.value / LINE_HEIGHT) + 3 * OVERSCAN);
  const digits = `${String(lines.at(-1)?.number ?? 1).length}ch`;
  return html`<div class="yaml-scroll" ref=${scroller} tabindex="0" role="region" aria-label=${t("blame.lines")} onScroll=${() => (top.value = scroller.current?.scrollTop ?? 0)}>
    <div class="yaml-lines" style=${{ height: `${lines.length * LINE_HEIGHT}px`, "--digits": digits }}>
      <div style=${{ transform: `translateY(${first * LINE_HEIGHT}px)` }}>${lines.slice(first, last).map((line, i) => html`<${Line} key=${line.number} line=${line} first=${line.first || i === 0} blame=${blame} tug=${tugs.get(line.field)} onChoose=${onChoose} />`)}</div>
    </div>
  </div>`;
}

/** @param {{ line: import("./blamed_lines.js").BlamedLine, first: boolean, blame: import("./blame.js").Blame, tug: import("../history/tug_of_war.js").Tug | undefined, onChoose: (id: string) => void }} props */
function Line({ line: { number, text, owners }, first, blame, tug, onChoose }) {
  const [owner] = owners;
  const title = owners.map(({ manager, operation, subresource }) => [manager, operation, subresource && `/${subresource}`].filter(Boolean).join(" ")).join("\n");
  return html`<div class=${`line blamed${owner ? ` swatch-line-${swatchOf(blame, owner)}` : ""}`}>
    <span class="owner">${owner && first && html`<button type="button" class="owner-name" translate=${false} title=${title} onClick=${() => onChoose(owner.id)}>${visible(owner.manager)}</button>
      ${owners.length > 1 && html`<span class="soft" translate=${false}>${`+${owners.length - 1}`}</span>`}<span class="spacer" />${owner.time && html`<${Age} at=${owner.time} />`}`}</span>
    <span class="number" aria-hidden="true">${number}</span>
    <code translate=${false}>${piecesOf(visible(text)).map(([type, piece]) => (type ? html`<span class=${`y-${type}`}>${piece}</span>` : piece))}</code>
    ${tug && html`<span class="tag warn"><${Icon} name="warn" />${t("blame.tug", { managers: visible(tug.managers.join(", ")) })}</span>`}
  </div>`;
}
