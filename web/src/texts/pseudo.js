/** A catalogue in which every text has marks around it: a test finds the texts that are outside. */

/** @param {import("./catalogue.js").Catalogue} source */
export function pseudo(source) {
  return Object.fromEntries(
    Object.entries(source).map(([key, text]) => [
      key,
      typeof text === "string" ? `⟦${text}⟧` : { one: `⟦${text.one ?? text.other}⟧`, other: `⟦${text.other}⟧` },
    ]),
  );
}
