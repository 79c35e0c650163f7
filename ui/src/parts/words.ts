// Where words stand in a text, whatever their case. Pure.

/** More than these aren't counted. */
export const MOST = 5000;

/** Letters without their case, one for one, so that places stay the same. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join("");
}

/** Where `query`, folded, begins in `text`, folded; places don't overlap. */
export function places(text: string, query: string, most = MOST): number[] {
  const list: number[] = [];
  if (query === "") return list;
  for (let at = text.indexOf(query); at !== -1 && list.length < most; at = text.indexOf(query, at + query.length)) list.push(at);
  return list;
}
