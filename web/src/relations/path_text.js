/** The path between two objects in words, for the panel and for screen readers. */
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { titleOf } from "./node_label.js";

/**
 * Return the steps of the path that is shown: the next object, and why.
 * @param {import("./model.js").RelationsModel} model
 */
export function stepTexts(model) {
  const { nodes } = model.graph.value;
  return (model.path.value?.steps ?? []).map(({ edge, forward }) => ({
    node: /** @type {import("./graph.js").Node} */ (nodes.get(forward ? edge.to : edge.from)),
    why: `${forward ? "↓" : "↑"} ${visible(edge.why.join(", "))}`,
  }));
}

/**
 * Return the path as one sentence; empty if none is chosen.
 * @param {import("./model.js").RelationsModel} model
 */
export function pathText(model) {
  const path = model.path.value;
  const start = model.graph.value.nodes.get(model.from.value);
  if (!path) return start ? t("relations.path_from", { name: titleOf(start) }) : "";
  const { nodes } = model.graph.value;
  const [from, to] = [path.from, path.to].map((id) => titleOf(/** @type {import("./graph.js").Node} */ (nodes.get(id))));
  if (!path.steps) return t("relations.no_path", { from, to });
  const steps = stepTexts(model).map(({ node, why }) => t("relations.path_step", { name: titleOf(node), why: why.slice(2) }));
  return t("relations.path_text", { count: steps.length, from, steps: steps.join(", ") });
}
