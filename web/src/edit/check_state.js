/** State of the checks of a text, and the list of its problems. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { lineAt } from "./lines.js";

/** @param {{ edit: { checking: import("@preact/signals").Signal<boolean>, errors: import("@preact/signals").ReadonlySignal<number>, marks: import("@preact/signals").Signal<any[]>, dirty: import("@preact/signals").ReadonlySignal<boolean> } }} props */
export function CheckState({ edit }) {
  if (!edit.dirty.value) return html`<span class="check-state" role="status" />`;
  const errors = edit.errors.value;
  const warnings = edit.marks.value.length - errors;
  const level = edit.checking.value ? "progress" : errors ? "bad" : warnings ? "warn" : "good";
  const text = edit.checking.value ? t("edit.checking") : errors ? t("edit.errors", { count: errors }) : warnings ? t("edit.warnings", { count: warnings }) : t("edit.accepted");
  return html`<span class="check-state" role="status"><span class=${`health ${level}`}><${Icon} name=${level} /><span>${text}</span></span></span>`;
}

/**
 * @param {{ marks: import("./place_problems.js").Mark[], text: string, onChoose: (at: number) => void }} props
 */
export function Problems({ marks, text, onChoose }) {
  if (marks.length === 0) return null;
  return html`<section class="code-problems" aria-label=${t("code.problems")}><ul role="list">
    ${marks.map((mark, i) => html`<li key=${i}><button type="button" class="code-problem" onClick=${() => onChoose(mark.from)}>
      <${Icon} name=${mark.severity === "error" ? "bad" : "warn"} class=${mark.severity === "error" ? "bad" : "warn"} />
      <span class="visually-hidden">${t(mark.severity === "error" ? "edit.error" : "edit.warning")}</span>
      <span class="line-number">${t("edit.line", { line: lineAt(text, mark.from) })}</span>
      <span class="code-message" translate=${false}>${mark.message}</span></button></li>`)}
  </ul></section>`;
}
