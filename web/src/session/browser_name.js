/** Name of a browser, from its User-Agent. */

/** The most specific first: the others imitate older browsers. @type {[RegExp, string][]} */
const BROWSERS = [
  [/Edg\/(\d+)/, "Edge"], [/OPR\/(\d+)/, "Opera"], [/(?:Headless)?Chrome\/(\d+)/, "Chrome"], [/Firefox\/(\d+)/, "Firefox"],
  [/Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari/, "Safari"],
];
/** @type {[RegExp, string][]} */
const SYSTEMS = [[/Android/, "Android"], [/iPhone|iPad/, "iOS"], [/Windows/, "Windows"], [/Mac OS X/, "macOS"], [/Linux/, "Linux"]];
const TEXT_MAX = 40;

/**
 * Return a short name: `Firefox 140, Linux`; of another program, the beginning of its text.
 * @param {string} agent
 */
export function browserOf(agent) {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(agent)?.[1];
    if (!version) continue;
    const system = SYSTEMS.find(([each]) => each.test(agent))?.[1];
    return `${name} ${version}${system ? `, ${system}` : ""}`;
  }
  return agent.length > TEXT_MAX ? `${agent.slice(0, TEXT_MAX)}…` : agent;
}
