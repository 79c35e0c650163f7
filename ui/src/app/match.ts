// How well a few letters fit a line. 0: not at all. Pure.

export function matchScore(query: string, line: string): number {
  const words = query.trim().toLowerCase();
  if (words === "") return 1;
  const text = line.toLowerCase();
  const at = text.indexOf(words);
  if (at === 0) return 100;
  if (at > 0) return /\s/.test(text[at - 1] ?? "") ? 80 : 60;
  let from = 0;
  for (const letter of words) {
    if (letter === " ") continue;
    const found = text.indexOf(letter, from);
    if (found === -1) return 0;
    from = found + 1;
  }
  return 20;
}
