/** Filter of relations: words that the kind, name, namespace or state of an object contains; `-word` excludes. */

/**
 * Return a function that tells matching objects; null if the filter is empty.
 * @param {string} text
 * @param {boolean} problems only objects with a problem
 * @returns {((node: import("./graph.js").Node) => boolean) | null}
 */
export function matcherOf(text, problems) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "" && word !== "-");
  if (words.length === 0 && !problems) return null;
  return (node) => {
    if (problems && !node.problem) return false;
    const searched = `${node.kindName} ${node.namespace}/${node.name} ${node.text} ${node.state === "missing" ? "missing" : node.level}`.toLowerCase();
    return words.every((word) => (word.startsWith("-") ? !searched.includes(word.slice(1)) : searched.includes(word)));
  };
}
