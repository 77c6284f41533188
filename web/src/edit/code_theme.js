/** Colours of the editor: those of the page, by variables, so that they follow the theme. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const STYLE = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), class: "y-key" },
  { tag: [tags.string, tags.content, tags.special(tags.string)], class: "y-string" },
  { tag: [tags.labelName, tags.typeName, tags.attributeValue, tags.keyword], class: "y-word" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta], class: "y-dash" },
  { tag: tags.lineComment, class: "y-comment" },
]);

const THEME = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--page)", color: "var(--ink)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", scrollbarWidth: "thin" },
  ".cm-content": { caretColor: "var(--accent)", padding: "8px 0" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--chosen)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--soft)", border: "none", paddingLeft: "6px" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "34px", padding: "0 8px 0 4px" },
  ".cm-foldGutter .cm-gutterElement": { cursor: "pointer", color: "var(--soft)", padding: "0 4px" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--raised)", border: "1px solid var(--line)", color: "var(--soft)", padding: "0 6px", margin: "0 6px" },
  ".cm-matchingBracket": { backgroundColor: "var(--chosen) !important" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-tint)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--chosen)" },
  ".cm-selectionMatch": { backgroundColor: "var(--raised)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 32px 8px 14px", fontFamily: "var(--text)" },
  ".cm-panel.cm-search label": { fontSize: "0.8125rem", whiteSpace: "nowrap" },
  ".cm-textfield": { width: "auto !important", height: "28px !important", backgroundColor: "var(--page)", border: "1px solid var(--control-line)", borderRadius: "5px", fontSize: "0.8125rem" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--page)", border: "1px solid var(--strong-line)", borderRadius: "5px", fontSize: "0.8125rem", padding: "3px 10px", cursor: "pointer" },
  ".cm-panel.cm-search [name=close]": { color: "var(--soft)", fontSize: "18px", top: "6px", right: "10px", width: "24px", height: "24px" },
  ".cm-tooltip": { backgroundColor: "var(--page)", color: "var(--ink)", border: "1px solid var(--strong-line)", borderRadius: "6px", boxShadow: "var(--shadow)", maxWidth: "min(560px, 90vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "0.8125rem", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px", lineHeight: "20px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "650", color: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "12px" },
  ".cm-completionInfo": { padding: "8px 12px", fontFamily: "var(--text)", fontSize: "0.8125rem", maxWidth: "360px", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".cm-diagnostic": { padding: "6px 12px", borderLeft: "3px solid var(--bad)", whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontSize: "0.8125rem", maxHeight: "40vh", overflowY: "auto" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn) 1px", textUnderlineOffset: "3px" },
  ".cm-gutter-lint": { width: "18px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "4px 0 0 2px" },
  ".cm-lint-marker": { width: "12px", height: "12px", borderRadius: "50%", content: "none" },
  ".cm-lint-marker-error": { content: "none", backgroundColor: "var(--bad)", borderRadius: "3px" },
  ".cm-lint-marker-warning": { content: "none", backgroundColor: "var(--warn)" },
});

export const colours = [THEME, syntaxHighlighting(STYLE)];
