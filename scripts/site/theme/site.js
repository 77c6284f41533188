// Theme, menu, copies of code, and scrolling with the keyboard.
(function () {
  const root = document.documentElement;
  const body = document.body;

  function isDark() {
    if (root.dataset.theme) return root.dataset.theme === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  document.querySelector(".theme-button").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // It is forgotten on the next page.
    }
  });

  const menuButton = document.querySelector(".menu-button");
  const menu = document.getElementById("menu");
  function showMenu(isOpen) {
    body.classList.toggle("menu-open", isOpen);
    menuButton.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) menu.querySelector("a").focus();
  }
  menuButton.addEventListener("click", () => showMenu(!body.classList.contains("menu-open")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && body.classList.contains("menu-open")) {
      showMenu(false);
      menuButton.focus();
    }
  });
  menu.addEventListener("click", (event) => {
    if (event.target.closest("a")) showMenu(false);
  });
  const current = menu.querySelector("[aria-current=page]");
  if (current && menu.scrollHeight > menu.clientHeight) {
    menu.scrollTop = current.offsetTop - menu.clientHeight / 3;
  }

  // A session's prompts and output are not copied.
  function textOf(block) {
    const commands = block.querySelectorAll(".command");
    const parts = commands.length ? [...commands] : [block.querySelector("code")];
    return parts
      .map((part) => {
        const copied = part.cloneNode(true);
        copied.querySelectorAll(".p").forEach((prompt) => prompt.remove());
        return copied.textContent.replace(/\n$/, "");
      })
      .join("\n") + "\n";
  }
  for (const block of document.querySelectorAll(".block:not(.view)")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = body.dataset.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(textOf(block));
      button.textContent = body.dataset.copied;
      setTimeout(() => (button.textContent = body.dataset.copy), 1500);
    });
    block.append(button);
  }

  // What scrolls is in the order of the Tab key.
  const scrolling = document.querySelectorAll("pre, .table, .picture, .diagram");
  function markScrolling() {
    for (const element of scrolling) {
      if (element.scrollWidth > element.clientWidth + 1) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    }
  }
  markScrolling();
  addEventListener("resize", markScrolling);

  // The heading that is being read.
  const entries = new Map();
  for (const link of document.querySelectorAll(".toc a")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) entries.set(heading, link);
  }
  function markHeading() {
    let read = null;
    for (const heading of entries.keys()) {
      if (heading.getBoundingClientRect().top < 120) read = heading;
    }
    for (const [heading, link] of entries) link.classList.toggle("read", heading === read);
  }
  if (entries.size) {
    addEventListener("scroll", markHeading, { passive: true });
    markHeading();
  }
})();
