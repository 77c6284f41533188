/** Drafts: edits that survive a reload of the page, in the session storage of the tab. Never those of Secrets. */

const PREFIX = "sampan-draft ";
/** Characters of all drafts; browsers keep about five million. */
const DRAFT_MAX = 2_000_000;
const KEPT_MAX = 20;
const SECRET = /^\s*["']?kind["']?\s*:\s*["']?Secret\b/m;

/**
 * @typedef {{ text: string, base: any, at: number }} Draft
 */

/**
 * Keep a draft. Return whether it was kept.
 * @param {string} key
 * @param {string} text
 * @param {any} base the object when the edit began; null for a new one
 */
export function keepDraft(key, text, base) {
  if (SECRET.test(text) || base?.kind === "Secret" || text.length > DRAFT_MAX) {
    dropDraft(key);
    return false;
  }
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify({ text, base, at: Date.now() }));
    prune();
    return true;
  } catch {
    return false;
  }
}

/**
 * Return the draft of an object, or null.
 * @param {string} key
 * @returns {Draft | null}
 */
export function draftOf(key) {
  try {
    const found = JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null");
    return found && typeof found.text === "string" ? found : null;
  } catch {
    return null;
  }
}

/** @param {string} key */
export function dropDraft(key) {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // Without a storage there is no draft.
  }
}

/** Drop all drafts, as at the logout. */
export function dropDrafts() {
  for (const name of names()) sessionStorage.removeItem(name);
}

function names() {
  return Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
}

/** Drop the oldest drafts. */
function prune() {
  const all = names().map((name) => ({ name, at: draftOf(name.slice(PREFIX.length))?.at ?? 0 }));
  for (const { name } of all.sort((a, b) => b.at - a.at).slice(KEPT_MAX)) sessionStorage.removeItem(name);
}
