// Runs before the first paint: the theme and the language of the last visit, so that nothing flashes.
{
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem("sampan-theme");
    if (theme) root.dataset.theme = theme;
    const language = localStorage.getItem("sampan-language");
    if (language) root.lang = language;
  } catch {
    // Storage is turned off: the system's theme.
  }
}
