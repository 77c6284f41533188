/** Reasons of a relation. Fields that differ only in the index of a list are one reason: `endpoints[].nodeName`. */

/**
 * Add a reason.
 * @param {string[]} reasons
 * @param {string} why
 * @param {number} [most] limit of the reasons
 */
export function addReason(reasons, why, most = Infinity) {
  const folded = foldedOf(why);
  const at = reasons.findIndex((each) => foldedOf(each) === folded);
  if (at < 0 && reasons.length < most) reasons.push(why);
  else if (at >= 0 && reasons[at] !== why) reasons[at] = folded;
}

/** @param {string} why */
function foldedOf(why) {
  return why.replace(/\[\d+\]/g, "[]");
}
