// Search: ranks titles, headings and names before words of the text. All of it runs in the page.
(function () {
  const dialog = document.querySelector("dialog.search");
  const input = dialog.querySelector("input");
  const list = document.getElementById("results");
  const empty = dialog.querySelector(".empty");
  const root = document.body.dataset.root;
  const resultsMax = 12;
  const small = new Set("a an and by for from how in is it of on or the to with".split(" "));
  let loading = null;
  let indexes = [];

  // The index is a script, because a page that was opened as a file may not read other files.
  function load() {
    loading ??= document.body.dataset.index.split(" ").reduce(
      (before, address) =>
        before.then(
          () =>
            new Promise((resolve, reject) => {
              const script = document.createElement("script");
              script.src = address;
              script.onload = () => resolve(indexes.push(prepared(window.sampanIndex)));
              script.onerror = reject;
              document.head.append(script);
            }),
        ),
      Promise.resolve(),
    );
    return loading;
  }

  function wordsOf(text) {
    const found = text.toLowerCase().match(/[\p{Script=Han}]+|[a-z0-9][a-z0-9._-]*/gu) ?? [];
    return found.flatMap((word) => (/\p{Script=Han}/u.test(word) ? pairs(word) : [word.replace(/[.-]+$/, "")]));
  }

  function pairs(word) {
    return word.length < 2 ? [word] : [...Array(word.length - 1).keys()].map((start) => word.slice(start, start + 2));
  }

  // Parts of a name: add_finalizer, sampan.operator and EventRecorder have two.
  function partsOf(text) {
    const whole = wordsOf(text);
    const split = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z0-9]+/g) ?? [];
    return [...new Set([...whole, ...split])];
  }

  function prepared(index) {
    const entry = (number, title, address, kind, text, page) => {
      const parts = partsOf(title);
      return { number, title, address, kind, text, page, parts, stems: parts.map(stemOf), lower: title.toLowerCase() };
    };
    const pages = index.pages.map(([title, address, kind, text], number) =>
      entry(number, title, address, kind, text, null),
    );
    const headings = index.headings.map(([number, title, anchor]) =>
      entry(number, title, `${pages[number].address}#${anchor}`, pages[number].kind, "", pages[number]),
    );
    const known = new Set(Object.keys(index.words));
    for (const entry of [...pages, ...headings]) entry.parts.forEach((part) => known.add(part));
    return { pages, headings, words: index.words, known: [...known] };
  }

  // Number of edits between two words, up to `max`; a swap of neighbours is one.
  function distance(one, two, max) {
    if (Math.abs(one.length - two.length) > max) return max + 1;
    let before = [];
    let row = [...Array(two.length + 1).keys()];
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= two.length; j++) {
        const same = one[i - 1] === two[j - 1];
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1));
        if (i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1]) {
          next[j] = Math.min(next[j], before[j - 2] + 1);
        }
      }
      [before, row] = [row, next];
    }
    return row[two.length];
  }

  // A word that is nowhere stands for the nearest ones.
  function meant(word, index) {
    const stem = stemOf(word);
    if (index.known.some((each) => each.startsWith(stem))) return [word];
    if (word.length < 4) return [];
    const max = word.length < 8 ? 1 : 2;
    const near = index.known.filter((each) => distance(word, each, max) <= max);
    return near.sort((a, b) => distance(word, a, max) - distance(word, b, max)).slice(0, 3);
  }

  // "install" and "installing" have one stem.
  function stemOf(word) {
    return word.length > 4 ? word.replace(/(ing|ed|es|e|s)$/, "") : word.replace(/s$/, "");
  }

  function inTitle(word, entry) {
    const stem = stemOf(word);
    let best = 0;
    for (const [place, part] of entry.parts.entries()) {
      // A title that begins with the word is about it.
      const early = place === 0 ? 2 : 0;
      if (part === word) return 10 + early;
      if (entry.stems[place] === stem) best = Math.max(best, 9 + early);
      else if (word.length > 1 && part.startsWith(word)) best = Math.max(best, 6 + early);
    }
    return best || (word.length > 3 && entry.lower.includes(word) ? 3 : 0);
  }

  function inText(word, index) {
    const found = new Map();
    const matching = index.words[word] ? [word] : [];
    if (word.length > 2) {
      matching.push(...Object.keys(index.words).filter((each) => each !== word && each.startsWith(word)));
    }
    for (const each of matching.slice(0, 20)) {
      const uses = index.words[each].split(" ");
      const rarity = Math.log(1 + index.pages.length / uses.length);
      for (const use of uses) {
        const number = parseInt(use, 10);
        const count = 1 + use.length - String(number).length;
        const score = rarity * (0.5 + 0.3 * count) * (each === word ? 1 : 0.6);
        found.set(number, Math.max(found.get(number) ?? 0, score));
      }
    }
    return found;
  }

  // Headings of the API reference are names.
  function isName(entry) {
    return entry.page && entry.address.startsWith("reference/sampan.");
  }

  // Parts of generated pages, and records of the past, come after pages for readers.
  function isRecord(entry) {
    return /^(?:adr|reference\/(?:cli|kinds|types))\//.test(entry.address);
  }

  function find(query, index) {
    const all = wordsOf(query);
    const typed = all.filter((word) => !small.has(word)).length ? all.filter((word) => !small.has(word)) : all;
    if (!typed.length) return [];
    const words = typed.map((word) => meant(word, index).map((each) => [each, inText(each, index)]));
    const whole = query.trim().toLowerCase();
    const hits = [];
    for (const entry of [...index.pages, ...index.headings]) {
      let score = 0;
      let inOwn = 0;
      const isHit = words.every((choices) => {
        let best = 0;
        for (const [word, uses] of choices) {
          const own = inTitle(word, entry);
          if (own) inOwn += 1;
          const above = entry.page ? inTitle(word, entry.page) * 0.4 : 0;
          best = Math.max(best, own, above, (uses.get(entry.number) ?? 0) * (entry.page ? 0.3 : 1));
        }
        score += best;
        return best > 0;
      });
      if (!isHit || (entry.page && !inOwn)) continue;
      if (entry.lower === whole) score += isName(entry) ? 20 : entry.page ? 4 : 20;
      score += (inOwn / (1 + entry.parts.length)) * 4;
      if (!entry.page) score += 6;
      if (isRecord(entry)) score -= entry.page ? 6 : 4;
      if (entry.address.startsWith("examples/") || entry.address.startsWith("changelog")) score -= 2;
      if (entry.kind < 2) score += 1;
      hits.push([score, entry]);
    }
    hits.sort((a, b) => b[0] - a[0] || a[1].title.length - b[1].title.length);
    return hits.slice(0, resultsMax).map(([, entry]) => entry);
  }

  function escaped(text) {
    return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
  }

  function marked(text, query) {
    const words = wordsOf(query).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!words.length) return escaped(text);
    return escaped(text).replace(new RegExp(`(${words.join("|")})`, "giu"), "<mark>$1</mark>");
  }

  function show() {
    const query = input.value;
    const entries = indexes.flatMap((index) => find(query, index)).slice(0, resultsMax);
    list.innerHTML = entries
      .map((entry, number) => {
        const where = entry.page ? entry.page.title : entry.text;
        return `<a role="option" id="hit-${number}" href="${root}${entry.address}" tabindex="-1" aria-selected="false">` +
          `<span class="hit">${marked(entry.title, query)}</span><span class="where">${escaped(where)}</span></a>`;
      })
      .join("");
    empty.hidden = entries.length > 0 || !query.trim();
    select(0);
  }

  function select(number) {
    const options = [...list.children];
    const chosen = options[(number + options.length) % options.length];
    for (const option of options) option.setAttribute("aria-selected", String(option === chosen));
    if (chosen) {
      input.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function selected() {
    return [...list.children].findIndex((option) => option.getAttribute("aria-selected") === "true");
  }

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    load().then(show);
  }

  document.querySelector(".search-button").addEventListener("click", open);
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("#results a")) dialog.close();
  });
  input.addEventListener("input", () => load().then(show));
  dialog.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") select(selected() + 1);
    else if (event.key === "ArrowUp") select(selected() - 1);
    else if (event.key === "Enter" && event.target === input) list.children[selected()]?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if ((event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      open();
    }
  });

  // For tests: the results of a query, as addresses.
  window.sampanSearch = (query) => load().then(() => indexes.flatMap((index) => find(query, index)).map((entry) => entry.address));
})();
