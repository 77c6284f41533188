/** Decision about an action from the rules of a user. */

/**
 * @typedef {{ verbs: string[], apiGroups?: string[], resources?: string[], resourceNames?: string[] }} Rule
 * @typedef {{ rules: Rule[], incomplete: boolean }} Rules
 * `incomplete`: an authorizer could not list all its rules, so that more may be allowed.
 */

/**
 * Return whether rules allow an action; undefined if that is not certain.
 * @param {Rules} rules
 * @param {{ group: string, plural: string }} kind
 * @param {string} verb
 * @param {{ subresource?: string, name?: string }} [of]
 * @returns {boolean | undefined}
 */
export function permits({ rules, incomplete }, { group, plural }, verb, { subresource = "", name = "" } = {}) {
  const resources = subresource ? [`${plural}/${subresource}`, `*/${subresource}`, "*"] : [plural, "*"];
  const allowed = rules.some(
    (rule) =>
      has(rule.verbs, [verb, "*"]) && has(rule.apiGroups, [group, "*"]) && has(rule.resources, resources) &&
      (!rule.resourceNames?.length || (name !== "" && rule.resourceNames.includes(name))),
  );
  return allowed || (incomplete ? undefined : false);
}

/**
 * @param {string[] | undefined} given
 * @param {string[]} wanted
 */
function has(given, wanted) {
  return given?.some((each) => wanted.includes(each)) ?? false;
}
