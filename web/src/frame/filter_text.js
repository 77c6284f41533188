/** Text box whose text is in the address soon after the last key. */
import { useEffect, useRef } from "preact/hooks";
import { setQuery } from "../routes/location.js";

/** Time in milliseconds after the last key until the text is in the address. */
const SETTLE_MS = 150;

/**
 * Return the properties of an input for the parameter `q`. Enter and Escape leave it; Escape empties it.
 * @param {string} text what the address has
 * @param {{ exact?: boolean }} [options] `exact`: spaces at both ends count
 */
export function useFilterText(text, { exact = false } = {}) {
  const ref = useRef(/** @type {HTMLInputElement | null} */ (null));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const written = useRef("");
  useEffect(() => {
    // Another text than the typed one comes from a chip, a link, or the buttons Back and Forward.
    if (ref.current && text !== written.current) ref.current.value = text;
    written.current = text;
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = () => {
    clearTimeout(timer.current);
    const typed = ref.current?.value ?? "";
    written.current = exact ? typed : typed.trim();
    setQuery({ q: written.current });
  };
  return {
    ref, id: "filter", type: "search", autocomplete: "off", spellcheck: false,
    onInput: () => {
      clearTimeout(timer.current);
      timer.current = setTimeout(apply, SETTLE_MS);
    },
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" && event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape" && ref.current) ref.current.value = "";
      apply();
      ref.current?.blur();
    },
  };
}
