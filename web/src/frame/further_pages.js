/** Pages that most visits do not need. `lazy_parts.js` loads them. */
export { ComparePage } from "../compare/compare_page.js";
export { ControllersPage } from "../controllers/controllers_page.js";
export { DeletedPage } from "../deleted/deleted_page.js";
export { KindPage } from "../explorer/kind_page.js";
export { ServerPage } from "../server/server_page.js";
export { SessionsPage } from "../session/sessions_page.js";
