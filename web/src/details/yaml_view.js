/** An object as YAML, read-only. Values of Secrets are hidden; only the visible lines are in the document. */
import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { stringify } from "yaml";
import { CopyButton } from "../frame/copy.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Lazy } from "../frame/lazy.js";
import { query, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { masked } from "./secret.js";
import { piecesOf } from "./yaml_pieces.js";

/** Height of a line in pixels; the style sheet has the same. */
const LINE_HEIGHT = 20;
const OVERSCAN = 20;

const loadBlame = () => import("../frame/lazy_parts.js").then((module) => module.BlameView);

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any }} props */
export function YamlView({ kind, object }) {
  const managed = useSignal(false);
  const owned = Boolean(object.metadata.managedFields?.length);
  const blame = owned && query.value.get("blame") === "1";
  const text = useMemo(() => yamlOf(object, managed.value), [object, managed.value]);
  return html`<div class="yaml">
    <div class="yaml-bar">
      <span class="soft"><${Icon} name="lock" />${t("detail.read_only")}</span><div class="spacer" />
      ${owned && html`<button type="button" class="toggle" aria-pressed=${blame} onClick=${() => setQuery({ blame: blame ? "" : "1", manager: "" })}><${Icon} name="user" />${t("blame.title")}</button>`}
      ${owned && !blame && html`<button type="button" class="toggle" aria-pressed=${managed.value} onClick=${() => (managed.value = !managed.value)}>${t("detail.managed_fields")}</button>`}
      <${CopyButton} text=${() => text} label=${t("detail.copy_yaml")} action="copy" />
    </div>
    ${blame ? html`<${Lazy} load=${loadBlame} props=${{ kind, object }} />` : html`<${Lines} text=${text} />`}
  </div>`;
}

/** @param {{ text: string }} props */
function Lines({ text }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const top = useSignal(0);
  const height = useSignal(800);
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const range = useComputed(() => `${Math.floor(top.value / LINE_HEIGHT / OVERSCAN)}`);
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const first = Math.max(0, (Number(range.value) - 1) * OVERSCAN);
  const last = Math.min(lines.length, first + Math.ceil(height.value / LINE_HEIGHT) + 3 * OVERSCAN);
  return html`<div class="yaml-scroll" ref=${scroller} tabindex="0" role="region" aria-label="YAML" onScroll=${() => (top.value = scroller.current?.scrollTop ?? 0)}>
    <div class="yaml-lines" translate=${false} style=${{ height: `${lines.length * LINE_HEIGHT}px`, "--digits": `${String(lines.length).length}ch` }}>
      <pre style=${{ transform: `translateY(${first * LINE_HEIGHT}px)` }}>${lines.slice(first, last).map((line, i) => html`<div class="line" key=${first + i}><span class="number" aria-hidden="true">${first + i + 1}</span><code>${piecesOf(visible(line)).map(([type, piece]) => (type ? html`<span class=${`y-${type}`}>${piece}</span>` : piece))}</code></div>`)}</pre>
    </div>
  </div>`;
}

/**
 * @param {any} object
 * @param {boolean} managed
 */
function yamlOf(object, managed) {
  const { apiVersion, kind, metadata, ...rest } = masked(object);
  const { managedFields, ...shown } = metadata;
  return stringify({ apiVersion, kind, metadata: managed ? metadata : shown, ...rest }, { lineWidth: 0, aliasDuplicateObjects: false });
}
