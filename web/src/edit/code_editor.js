/** The editor for text: CodeMirror with YAML, folding, search and marks. Its styles carry the nonce of the page. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, codeFolding, foldEffect, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { colours } from "./code_theme.js";
import { TEXT_MAX } from "./manifest.js";
import { phrases } from "./phrases.js";

/** Marks a change of the page itself. */
const FromPage = Annotation.define();

/**
 * @typedef {{ view: EditorView | null }} Handle
 * @param {{ text: string, label: string, handle: Handle, onChange: (text: string) => void, onTooLong: () => void, extensions?: any[] }} props
 * `text` is the text at first; later changes of it are made with `replaceText`.
 */
export function CodeEditor({ text, label, handle, onChange, onTooLong, extensions = [] }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const view = new EditorView({
      parent: /** @type {HTMLDivElement} */ (root.current),
      state: EditorState.create({ doc: text, extensions: [...basics(label), ...limits(onTooLong), listening(onChange), ...extensions] }),
    });
    handle.view = view;
    view.focus();
    return () => {
      handle.view = null;
      view.destroy();
    };
  }, []);
  return html`<div class="code" ref=${root} />`;
}

/** @param {string} label */
function basics(label) {
  const nonce = /** @type {HTMLElement | null} */ (document.querySelector("meta[name=csp-nonce]"))?.nonce ?? "";
  return [
    EditorView.cspNonce.of(nonce), EditorState.phrases.of(phrases()), EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    lineNumbers(), lintGutter(), foldGutter(), codeFolding(), highlightSpecialChars(), highlightActiveLine(), highlightActiveLineGutter(),
    history(), drawSelection(), indentOnInput(), indentUnit.of("  "), bracketMatching(), closeBrackets(), highlightSelectionMatches(),
    search({ top: true }), yaml(), colours, EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
  ];
}

/**
 * Replace a selection by itself. The browser would keep its colours in a style attribute, which the policy of the page forbids.
 * @param {InputEvent} event
 * @param {EditorView} view
 */
function replaceSelection(event, view) {
  const { from, to, empty } = view.state.selection.main;
  if (empty || event.inputType !== "insertText" || !event.data || view.composing) return false;
  event.preventDefault();
  const text = event.data;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, text, insert))) view.dispatch(insert());
  return true;
}

/** @param {(text: string) => void} onChange */
function listening(onChange) {
  return EditorView.updateListener.of((update) => {
    if (update.docChanged && !update.transactions.some((each) => each.annotation(FromPage))) onChange(update.state.doc.toString());
  });
}

/**
 * Refuse texts that are too long, before the editor sees them.
 * @param {() => void} onTooLong
 */
function limits(onTooLong) {
  const guard = (/** @type {DataTransfer | null} */ data, /** @type {Event} */ event) => {
    if ((data?.getData("text/plain").length ?? 0) <= TEXT_MAX) return false;
    event.preventDefault();
    onTooLong();
    return true;
  };
  return [
    EditorView.domEventHandlers({ paste: (event) => guard(event.clipboardData, event), drop: (event) => guard(event.dataTransfer, event) }),
    EditorState.changeFilter.of((transaction) => {
      if (transaction.newDoc.length <= TEXT_MAX) return true;
      onTooLong();
      return false;
    }),
  ];
}

/**
 * Replace the part of the text that differs, so that the cursor and the folds stay.
 * @param {EditorView} view
 * @param {string} text
 */
export function replaceText(view, text) {
  const before = view.state.doc.toString();
  if (before === text) return;
  let start = 0;
  while (start < before.length && before[start] === text[start]) start++;
  let end = 0;
  while (end < before.length - start && end < text.length - start && before.at(-1 - end) === text.at(-1 - end)) end++;
  view.dispatch({ changes: { from: start, to: before.length - end, insert: text.slice(start, text.length - end) }, annotations: FromPage.of(true) });
}

/**
 * @param {EditorView} view
 * @param {import("./place_problems.js").Mark[]} marks
 */
export function showMarks(view, marks) {
  const { length } = view.state.doc;
  const within = marks.map((mark) => ({ ...mark, from: Math.min(mark.from, length), to: Math.min(Math.max(mark.to, mark.from), length) }));
  view.dispatch(setDiagnostics(view.state, within));
}

/**
 * Fold what is inside each range: from the end of its first line to its end.
 * @param {EditorView} view
 * @param {{ from: number, to: number }[]} ranges
 */
export function fold(view, ranges) {
  const effects = ranges.flatMap(({ from, to }) => {
    const start = view.state.doc.lineAt(from).to;
    const text = view.state.sliceDoc(start, to);
    const end = start + text.trimEnd().length;
    return end > start ? [foldEffect.of({ from: start, to: end })] : [];
  });
  view.dispatch({ effects });
}

/**
 * Move the cursor to a place and show it.
 * @param {EditorView} view
 * @param {number} at
 */
export function moveTo(view, at) {
  view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  view.focus();
}
