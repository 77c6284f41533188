/** Dialogs of actions. `frame/lazy_parts.js` loads them. */
export { ActionDialog } from "./action_dialog.js";
export { BulkDialog } from "../bulk/bulk_dialog.js";
export { DeleteDialog } from "./delete_dialog.js";
