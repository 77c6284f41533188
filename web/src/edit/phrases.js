/** Texts of the editor itself, in the language of the page. */
import { t } from "../texts/catalogue.js";

/** Return the texts of CodeMirror by its English ones. */
export function phrases() {
  return {
    Find: t("code.find"), Replace: t("code.replace"), next: t("code.next"), previous: t("code.previous"), all: t("code.all"),
    "match case": t("code.case"), regexp: t("code.regexp"), "by word": t("code.word"), replace: t("code.replace_one"),
    "replace all": t("code.replace_all"), close: t("code.close"), "current match": t("code.current"), "on line": t("code.on_line"),
    "replaced $ matches": t("code.replaced"), "replaced match on line $": t("code.replaced_one"), "Go to line": t("code.go_to"), go: t("code.go"),
    "Fold line": t("code.fold"), "Unfold line": t("code.unfold"), "folded code": t("code.folded"), unfold: t("code.unfold"),
    "Folded lines": t("code.folded"), "Unfolded lines": t("code.unfold"), to: "–", "Selection deleted": t("code.deleted"),
    Diagnostics: t("code.problems"), "No diagnostics": t("code.no_problems"), Completions: t("code.completions"), "Control character": t("code.control"),
  };
}
