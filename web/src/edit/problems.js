/** Problems of a manifest: each refusal and warning of the server, with the path of its field. */
import { safeMessage } from "../transport/errors.js";
import { parsePath } from "./field_paths.js";

/**
 * @typedef {{ message: string, steps: import("./field_paths.js").Step[] | null, severity: "error" | "warning" }} Problem
 * `steps` is the path of the field; null if the server names none.
 */

const PROBLEMS_MAX = 100;

/**
 * Return the problems of a refused request.
 * @param {any} error
 * @returns {Problem[]}
 */
export function problemsOf(error) {
  const status = error.status ?? {};
  const causes = (status.details?.causes ?? []).filter((/** @type {any} */ each) => each.field && each.field !== "<nil>" && each.reason !== "ClusterRole");
  if (causes.length) {
    return causes.slice(0, PROBLEMS_MAX).map((/** @type {any} */ cause) => problem(cause.message, parsePath(cause.field)));
  }
  const message = String(status.message ?? error.message ?? "");
  return strictProblems(message) ?? [problem(message.replace(/^.* cannot be handled as an? \S+: /, ""), mentionedPath(message))];
}

/**
 * Return the problem of a warning.
 * @param {string} text
 * @returns {Problem}
 */
export function warningOf(text) {
  return { ...problem(text, mentionedPath(text)), severity: "warning" };
}

/**
 * @param {string} message
 * @returns {Problem[] | null}
 */
function strictProblems(message) {
  const found = [...message.matchAll(/\b(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)];
  return found.length ? found.slice(0, PROBLEMS_MAX).map(([text, , path]) => problem(text, parsePath(path))) : null;
}

/**
 * Return the path of a field that a message names without a cause, or null.
 * @param {string} message
 */
function mentionedPath(message) {
  if (/name of the object/.test(message)) return ["metadata", "name"];
  if (/namespace of the (provided )?object/.test(message)) return ["metadata", "namespace"];
  const decoded = /Go struct field \w*\.([\w.\-/]+) of type/.exec(message);
  if (decoded) return parsePath(decoded[1]);
  const typed = /: \.([^\s:]+): /.exec(message) ?? /^([a-z]\w*(?:\[[^\]]*\]|\.[\w\-/]+)+)(?=:|\s(?!"))/.exec(message);
  if (typed) return parsePath(typed[1]);
  const named = /\b((?:spec|metadata|data|stringData)(?:\.[\w\-/]+|\[[^\]\s]*\])+)/.exec(message);
  return named ? parsePath(named[1].replace(/\.$/, "")) : null;
}

/**
 * @param {unknown} message
 * @param {import("./field_paths.js").Step[] | null} steps
 * @returns {Problem}
 */
function problem(message, steps) {
  return { message: safeMessage(message), steps, severity: "error" };
}
