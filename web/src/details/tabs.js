/** Tabs of the page of an object, in their order. A view receives the kind, the object and what is related to it. */
import { html } from "../frame/html.js";
import { hasReconciles } from "../controllers/reconciles.js";
import { Lazy } from "../frame/lazy.js";
import { query } from "../routes/location.js";
import { hasLogs, isPod } from "../logs/pods.js";
import { momentText } from "../past/moment.js";
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
 * @property {(kind: Kind, object: any, related: import("./related.js").Related) => boolean} [has] false for an object without this tab; all have it by default
 * @property {(props: TabProps) => any} [Badge]
 */

const loadRelations = () => import("../relations/relations_view.js").then((module) => module.RelationsView);
const loadIncident = () => import("../incident/incident_view.js").then((module) => module.IncidentView);
const loadHistory = () => import("../history/history_view.js").then((module) => module.HistoryView);
const loadReconciles = () => import("../controllers/reconciles_view.js").then((module) => module.ReconcilesView);

/** @type {readonly Tab[]} The first one is shown by default. */
const TABS = [
  { name: "overview", View: Overview },
  { name: "logs", View: Logs, has: (...given) => !momentText.value && hasLogs(...given) },
  { name: "terminal", View: Terminal, has: (kind) => !momentText.value && isPod(kind) },
  { name: "yaml", View: YamlView },
  { name: "events", View: EventsView, Badge: Warnings },
  { name: "relations", View: (props) => html`<${Lazy} load=${loadRelations} props=${props} />` },
  { name: "history", View: (props) => html`<${Lazy} load=${loadHistory} props=${props} />` },
  { name: "incident", View: (props) => html`<${Lazy} load=${loadIncident} props=${props} />` },
  { name: "reconciles", View: Reconciles, has: (kind, object) => hasReconciles(kind, object) || query.value.get("tab") === "reconciles" },
];

/** @param {TabProps} props */
function Reconciles(props) {
  return html`<${Lazy} load=${loadReconciles} props=${props} />`;
}

/**
 * Return the tabs of an object.
 * @param {Kind} kind
 * @param {any} object
 * @param {import("./related.js").Related} related
 */
export function tabsOf(kind, object, related) {
  return TABS.filter((tab) => tab.has?.(kind, object, related) ?? true);
}

const loadTerminal = async () => (await import("../terminal/terminal_view.js")).TerminalView;
const loadLogs = async () => (await import("../logs/logs_view.js")).LogsView;

/** @param {TabProps} props */
function Logs(props) {
  return html`<${Lazy} load=${loadLogs} props=${props} />`;
}

/** @param {TabProps} props */
function Terminal(props) {
  return html`<${Lazy} load=${loadTerminal} props=${props} />`;
}

/** @param {TabProps} props */
function Warnings({ related }) {
  return related.warnings.value > 0 && html`<span class="badge" translate=${false}>${related.warnings.value}</span>`;
}
