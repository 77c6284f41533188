/** Dialogs of actions, in one file. */
export { ActionDialog } from "./action_dialog.js";
export { DeleteDialog } from "./delete_dialog.js";
