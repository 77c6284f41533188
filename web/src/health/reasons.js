/** What Kubernetes' words for a state mean, for readers who do not know them. */
import { t } from "../texts/catalogue.js";

/** Names of texts by words, in lower case. @type {Record<string, string>} */
const MEANINGS = {
  errimagepull: "image", imagepullbackoff: "image", invalidimagename: "image", errimageneverpull: "image",
  crashloopbackoff: "crash", error: "ended", runcontainererror: "start", containercannotrun: "start",
  createcontainererror: "start", createcontainerconfigerror: "config", oomkilled: "memory", evicted: "evicted",
  notready: "node", unschedulable: "unschedulable", failedscheduling: "unschedulable", minimumreplicasunavailable: "replicas", progressdeadlineexceeded: "rollout",
  failedcreate: "create", deadlineexceeded: "deadline", backofflimitexceeded: "backoff",
};

/**
 * Return the meaning of the first word that is known; empty if there is none.
 * @param {string} text
 */
export function meaningOf(text) {
  for (const word of String(text).toLowerCase().match(/[a-z]{5,}/g) ?? []) {
    if (Object.hasOwn(MEANINGS, word)) return t(`reason.${MEANINGS[word]}`);
  }
  return "";
}
