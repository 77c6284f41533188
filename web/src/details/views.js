/** Views of the further tabs of an object. `frame/lazy_parts.js` loads them. */
export { BlameView } from "../blame/blame_view.js";
export { ReconcilesView } from "../controllers/reconciles_view.js";
export { HistoryView } from "../history/history_view.js";
export { IncidentView } from "../incident/incident_view.js";
export { LogsView } from "../logs/logs_view.js";
export { RelationsView } from "../relations/relations_view.js";
export { TerminalView } from "../terminal/terminal_view.js";
