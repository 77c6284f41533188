// Before the first paint: the theme that the reader has chosen, and that scripts run.
(function () {
  const root = document.documentElement;
  root.classList.add("scripted");
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // A browser without storage has the theme of the system.
  }
})();
