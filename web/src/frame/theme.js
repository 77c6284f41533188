/** Theme of the page. The style sheet follows the system unless the user has chosen one. */
import { signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark", "contrast"];
export const theme = signal(document.documentElement.dataset.theme ?? "system");

/** @param {string} name */
export function useTheme(name) {
  theme.value = name;
  if (name === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("sampan-theme");
  } else {
    document.documentElement.dataset.theme = name;
    localStorage.setItem("sampan-theme", name);
  }
}
