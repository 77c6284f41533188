/** All that is loaded when it is needed, in one file: together the parts compress better than one by one. */
export * from "../actions/dialogs.js";
export * from "../details/views.js";
export { Example } from "../explorer/example.js";
export { csvOf, objectsOf } from "../lists/export.js";
export { RollBack } from "../history/roll_back.js";
export * from "./further_pages.js";
