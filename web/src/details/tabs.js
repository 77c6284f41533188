/** Tabs of the page of an object, in their order. A view receives the kind, the object and what is related to it. */
import { html } from "../frame/html.js";
import { hasReconciles } from "../controllers/reconciles.js";
import { Lazy } from "../frame/lazy.js";
import { query } from "../routes/location.js";
import { hasLogs, isPod } from "../logs/pods.js";
import { session } from "../session/session.js";
import { EventsView } from "./events_view.js";
import { Overview } from "./overview.js";
import { YamlView } from "./yaml_view.js";

/** @typedef {import("../discovery/kinds.js").Kind} Kind */
/** @typedef {{ kind: Kind, object: any, related: import("./related.js").Related, deleted: boolean }} TabProps */

/**
 * Tab of the page of an object. Its title is the text `detail.tab.NAME`.
 * @typedef {object} Tab
 * @property {string} name value of the query parameter `tab`
 * @property {(props: TabProps) => any} View a view with a large library loads it with `Lazy`
 * @property {boolean} [present] true for a view that knows the present only
 * @property {(kind: Kind, object: any, related: import("./related.js").Related) => boolean} [has] false for an object without this tab; all have it by default
 * @property {(props: TabProps) => any} [Badge]
 */

/**
 * Return a view that is loaded when it is shown.
 * @param {"RelationsView" | "IncidentView" | "HistoryView" | "ReconcilesView" | "LogsView" | "TerminalView"} name
 */
function lazily(name) {
  const load = () => import("../frame/lazy_parts.js").then((module) => module[name]);
  return (/** @type {TabProps} */ props) => html`<${Lazy} load=${load} props=${props} />`;
}

/** Tab that is shown by default. */
export const FIRST_TAB = "overview";
/** Tabs that need a Pod that exists. After its deletion, the open one stays with what it has shown. */
const OF_PRESENT_PODS = new Set(["logs", "terminal"]);

/** @type {readonly Tab[]} */
const TABS = [
  { name: FIRST_TAB, View: Overview },
  { name: "logs", View: lazily("LogsView"), present: true, has: hasLogs },
  { name: "terminal", View: lazily("TerminalView"), present: true, has: (kind) => !session.viewedAs.value && isPod(kind) },
  { name: "yaml", View: YamlView },
  { name: "events", View: EventsView, Badge: Warnings },
  { name: "relations", View: lazily("RelationsView") },
  { name: "history", View: lazily("HistoryView") },
  { name: "incident", View: lazily("IncidentView") },
  { name: "reconciles", View: lazily("ReconcilesView"), present: true, has: (kind, object) => hasReconciles(kind, object) || query.value.get("tab") === "reconciles" },
];

/**
 * Return the tabs of an object.
 * @param {Kind} kind
 * @param {any} object
 * @param {import("./related.js").Related} related
 * @param {boolean} deleted
 */
export function tabsOf(kind, object, related, deleted) {
  const possible = (/** @type {Tab} */ { name }) => !deleted || !isPod(kind) || !OF_PRESENT_PODS.has(name) || name === query.value.get("tab");
  return TABS.filter((tab) => possible(tab) && (tab.has?.(kind, object, related) ?? true));
}

/** @param {TabProps} props */
function Warnings({ related }) {
  return related.warnings.value > 0 && html`<span class="badge" translate=${false}>${related.warnings.value}</span>`;
}
