/** Containers of Pods, and their labels next to the lines. */

/**
 * Return the names of the containers of a Pod, in the order in which they start.
 * @param {any} pod
 * @returns {string[]}
 */
export function containersOf(pod) {
  const { initContainers, containers, ephemeralContainers } = pod.spec ?? {};
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])].map((each) => each.name);
}

/**
 * Give each source its label: the name of the Pod without what all names begin with, and the container if Pods have several.
 * @param {import("./line.js").Source[]} sources
 */
export function labelsOf(sources) {
  const pods = [...new Set(sources.map((source) => source.pod))];
  const shared = pods.length > 1 ? commonStart(pods) : 0;
  const several = new Set(sources.map((source) => source.container)).size > 1;
  for (const source of sources) {
    const pod = source.pod.slice(shared);
    if (pods.length === 1) source.label = source.container;
    else source.label = several ? `${pod}/${source.container}` : pod;
  }
}

/**
 * Return the length of the start that all names share, up to a hyphen.
 * @param {string[]} names
 */
function commonStart(names) {
  let length = names[0].length;
  for (const name of names) {
    let i = 0;
    while (i < length && name[i] === names[0][i]) i++;
    length = i;
  }
  return names[0].lastIndexOf("-", length - 1) + 1;
}
