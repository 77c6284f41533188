/** Health of a whole object, from its conditions and status, and its problems. */
import { now } from "../time/clock.js";


/** @typedef {import("../health/row_health.js").Problem} Problem */

/** Conditions that are good when they are False. */
const NEGATIVE = /(pressure|failed|failure|degraded|unavailable|stalled|error|dangling|nonstructural|terminating|violat|invalid|suspended|orphan|unknown|disruptiontarget|replicafailure|remaining)/i;
/** Conditions that report a step, not a state. */
const STEPS = /^(progressing|reconciling|suspended|podscheduled|initialized|podreadytostartcontainers|successcriteriamet|disruptionallowed|failuretarget|namespace(content|finalizers)remaining)$/i;
/** Reasons for which a step does not end by itself. */
const FAILED = /unschedulable|exceeded|failed|error/i;
const PATIENCE_MS = 60_000;

/**
 * Return the level of a condition.
 * @param {{ type: string, status: string, reason?: string }} condition
 * @returns {import("../health/row_health.js").Level}
 */
export function conditionLevel({ type, status, reason = "" }) {
  if (status === "Unknown") return "warn";
  const good = NEGATIVE.test(type) ? status === "False" : status === "True";
  if (good) return "good";
  return STEPS.test(type) && !FAILED.test(reason) ? "progress" : "bad";
}

/**
 * Return the conditions of an object.
 * @param {any} object
 * @returns {any[]}
 */
export function conditionsOf(object) {
  const conditions = object.status?.conditions;
  return Array.isArray(conditions) ? conditions.filter((each) => each && typeof each === "object" && each.type) : [];
}

/**
 * Return the level of an object.
 * @param {any} object
 * @returns {import("../health/row_health.js").Level}
 */
export function objectLevel(object) {
  if (object.metadata.deletionTimestamp) return "progress";
  const conditions = conditionsOf(object);
  const phase = String(object.status?.phase ?? "");
  if (/failed|error/i.test(phase)) return "bad";
  if (/succeeded/i.test(phase) || conditions.some((each) => each.type === "Complete" && each.status === "True")) return "good";
  const levels = conditions.map(conditionLevel);
  if (problemsOf(object).some((problem) => problem.key !== "problem.generation")) return "bad";
  if (levels.includes("bad")) return "progress";
  if (levels.includes("warn") || levels.includes("progress") || /pending/i.test(phase)) return "progress";
  if (conditions.length || /running|active|bound|ready|available/i.test(phase)) return "good";
  return "neutral";
}

/**
 * Return what is wrong with an object, most specific first.
 * @param {any} object
 * @returns {Problem[]}
 */
export function problemsOf(object) {
  /** @type {Problem[]} */
  const problems = [];
  const { metadata, status } = object;
  if (metadata.deletionTimestamp && now.peek() - Date.parse(metadata.deletionTimestamp) > PATIENCE_MS) {
    const finalizers = (metadata.finalizers ?? []).join(", ");
    problems.push({ key: finalizers ? "problem.terminating" : "problem.terminating_plain", values: { finalizers }, at: metadata.deletionTimestamp });
  }
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    problems.push(...containerProblems(container));
  }
  const done = conditionsOf(object).some((each) => each.type === "Complete" && each.status === "True") || status?.phase === "Succeeded";
  const waits = problems.some((each) => each.key === "problem.waiting" || each.key === "problem.terminated");
  for (const condition of conditionsOf(object)) {
    if (done || conditionLevel(condition) !== "bad") continue;
    // Of a Pod, both follow from the state of its containers.
    if (condition.type === "ContainersReady" || (waits && condition.reason === "ContainersNotReady")) continue;
    const text = [condition.reason, condition.message].filter(Boolean).join(": ");
    problems.push({ key: "problem.condition", values: { type: condition.type, status: `${condition.status}${text ? ` (${text})` : ""}` }, at: condition.lastTransitionTime });
  }
  if (status?.observedGeneration !== undefined && status.observedGeneration < metadata.generation) {
    problems.push({ key: "problem.generation", values: { generation: metadata.generation, observed: status.observedGeneration } });
  }
  return problems;
}

/**
 * @param {any} container
 * @returns {Problem[]}
 */
function containerProblems({ name, state, lastState, restartCount }) {
  /** @type {Problem[]} */
  const problems = [];
  const waiting = state?.waiting;
  if (waiting?.reason && !/^(ContainerCreating|PodInitializing)$/.test(waiting.reason)) {
    problems.push({ key: "problem.waiting", values: { name, reason: [waiting.reason, waiting.message].filter(Boolean).join(": ") } });
  }
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended && ended.exitCode !== 0 && (waiting || state?.terminated || restartCount > 2)) {
    problems.push({ key: "problem.terminated", values: { name, code: ended.exitCode, reason: ended.reason ?? "" }, at: ended.finishedAt });
  }
  return problems;
}
