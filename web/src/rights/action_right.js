/** Right to one action, for its button: the rules of the namespace at once, then the precise answer of the server. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { resourceName } from "../discovery/kinds.js";
import { allowedNamespaces } from "../lists/namespaces.js";
import { momentText } from "../past/moment.js";
import { t } from "../texts/catalogue.js";
import { isAllowed } from "./access.js";
import { permits } from "./permits.js";
import { rulesIn } from "./rules.js";

/**
 * @typedef {{ kind: { group: string, version: string, plural: string, namespaced?: boolean }, namespace: string, name: string, verb: string,
 *   subresource?: string }} Action
 * Something that a user may do to an object. `name` is empty for actions on a kind: `create`, `deletecollection`.
 * @typedef {{ allowed: boolean | undefined, missing: string }} ActionRight
 * `allowed` is undefined until the server has answered, or if it cannot. `missing` is the text for a refused action:
 * "Needs delete on pods"; otherwise empty.
 */

/**
 * Return the right to an action, as a hook. A component with it asks the server: once for each namespace, and with
 * `precise` once for each action. Use `precise` in what opens on demand, as a menu. Answers are kept for ten seconds.
 * @param {Action} action
 * @param {{ precise?: boolean }} [options]
 * @returns {ActionRight}
 */
export function useActionRight(action, { precise = false } = {}) {
  const allowed = useSignal(/** @type {boolean | undefined} */ (undefined));
  const { kind, namespace, name, verb, subresource = "" } = action;
  useEffect(() => {
    let current = true;
    const found = (/** @type {boolean | undefined} */ answer) => current && (allowed.value = answer);
    // Without a namespace, an object may be created where the user may.
    const rules = verb === "create" && !subresource && !namespace && kind.namespaced
      ? allowedNamespaces(kind, verb).then((each) => each === null ? undefined : each.allNamespaces || each.namespaces.length > 0)
      : rulesIn(namespace).then((each) => permits(each, kind, verb, { subresource, name }));
    if (!precise) rules.then(found, () => {});
    else {
      rules.then((answer) => allowed.peek() === undefined && found(answer), () => {});
      isAllowed(kind, namespace, name, verb, subresource).then(found, () => {});
    }
    return () => {
      current = false;
    };
  }, [kind.group, kind.plural, namespace, name, verb, subresource, precise]);
  if (momentText.value) return { allowed: false, missing: t("past.read_only") };
  return { allowed: allowed.value, missing: allowed.value === false ? missingText(action) : "" };
}

/**
 * Return the text of a right that the user does not have.
 * @param {Action} action
 */
export function missingText({ kind, verb, subresource = "" }) {
  return t("forbidden.needs", { verb, resource: resourceName(kind) + (subresource ? `/${subresource}` : "") });
}
