/** Graph of relations, drawn as SVG. It moves with the pointer and the keyboard; a worker arranges it. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Announcer } from "../frame/announcer.js";
import { html } from "../frame/html.js";
import { go, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { Arrangement } from "./arrangement.js";
import { GraphButtons, Legend } from "./graph_buttons.js";
import { graphKeys } from "./graph_keys.js";
import { EdgeLines, Nodes } from "./graph_parts.js";
import { nodeAddress } from "./node_label.js";
import { NodePanel } from "./node_panel.js";
import { pathText } from "./path_text.js";
import { Viewport } from "./viewport.js";

/** @param {{ model: import("./model.js").RelationsModel }} props */
export function GraphView({ model }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const arrangement = useMemo(() => new Arrangement(model), []);
  const viewport = useMemo(() => new Viewport(arrangement), []);
  const focused = useSignal("");
  useEffect(() => arrangement.start(), []);
  useLayoutEffect(() => viewport.attach(/** @type {HTMLDivElement} */ (root.current), model.root), []);
  const spoken = useComputed(() => pathText(model));
  useSignalEffect(() => {
    if (arrangement.ready.value) viewport.begin();
  });
  const { nodes, edges } = arrangement.drawn.value;
  const wanted = focused.value || model.selected.value || model.root;
  const current = model.folded.value.drawnAs.get(wanted) ?? (nodes.some((each) => each.id === wanted) ? wanted : model.root);
  const waiting = useRef({ id: "", late: false });
  const { taken, focus, actions } = useMemo(() => {
    const taken = (/** @type {string} */ id) => {
      waiting.current.id = "";
      focused.value = id;
    };
    const focus = (/** @type {string} */ id) => {
      const late = !Object.hasOwn(arrangement.drawn.peek().positions, id);
      waiting.current = { id, late };
      if (!late) focused.value = id;
      viewport.reveal(id);
    };
    return { taken, focus, actions: actionsOf(model, arrangement, viewport, focus) };
  }, []);
  // A node gets the focus when it is drawn: those of a group that opens are arranged first.
  useLayoutEffect(() => {
    const { id, late } = waiting.current;
    const element = id && /** @type {SVGElement | null | undefined} */ (root.current?.querySelector(`[data-node="${CSS.escape(id)}"]`));
    if (!element) return;
    const give = () => {
      if (waiting.current.id !== id || !element.isConnected) return;
      viewport.reveal(id);
      waiting.current.id = "";
      element.focus({ preventScroll: true });
    };
    // The focus needs the styles of all that is new: those are computed for the next frame.
    if (late) requestAnimationFrame(() => setTimeout(give));
    else give();
  });
  const onKeyDown = graphKeys({ model, arrangement, viewport, current: () => current, focus, actions });
  return html`<div class="graph-frame">
    <div class="graph" ref=${root} onKeyDown=${onKeyDown}>
      <svg class="graph-svg" role="group" aria-label=${t("relations.graph_label")} aria-describedby="graph-keys">
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7.500" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .5 8 4 0 7.500z" /></marker></defs>
        <g transform=${viewport.transform}>
          <${EdgeLines} model=${model} edges=${edges} arrangement=${arrangement} viewport=${viewport} current=${focused.value && current} />
          <${Nodes} model=${model} nodes=${nodes} arrangement=${arrangement} viewport=${viewport} current=${current} onFocus=${taken} onPress=${actions.press} />
        </g>
      </svg>
      <p id="graph-keys" class="visually-hidden">${t("relations.keys")}</p>
      <${Legend} edges=${edges} />
      <${GraphButtons} viewport=${viewport} arrangement=${arrangement} />
      ${!arrangement.ready.value && html`<p class="graph-busy hint" role="status">${t("relations.arranging")}</p>`}
    </div>
    <${NodePanel} model=${model} actions=${actions} />
    <${Announcer} text=${spoken} />
  </div>`;
}

/**
 * @param {import("./model.js").RelationsModel} model
 * @param {Arrangement} arrangement
 * @param {Viewport} viewport
 * @param {(id: string) => void} focus
 */
function actionsOf(model, arrangement, viewport, focus) {
  return {
    focus,
    press: (/** @type {import("./fold.js").Drawn} */ drawn) => {
      if (drawn.count > 1) {
        setQuery({ open: [...model.open.peek().split(","), drawn.id].filter(Boolean).slice(-12).join(",") });
        focus([...drawn.members].sort()[0]);
      } else setQuery({ node: model.selected.peek() === drawn.id ? "" : drawn.id });
    },
    /** Choose the first or the second end of a path. */
    path: (/** @type {string} */ id) => {
      const [from, to] = [model.from.peek(), model.to.peek()];
      if (!from || to) setQuery({ from: id, to: "" });
      else if (from !== id) setQuery({ to: id });
    },
    clear: () => setQuery({ node: "", from: "", to: "" }),
    follow: (/** @type {import("./graph.js").Node} */ node) => {
      const href = nodeAddress(node, "graph");
      if (href) go(href);
    },
    arrange: () => arrangement.again(),
    fit: () => viewport.fit(),
  };
}
