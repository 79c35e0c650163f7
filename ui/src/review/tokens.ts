// Syntax colours and changed words of one line, laid over each other. Pure.

import type { Token } from "../parts/highlight";
import type { Stretch } from "./words";

export interface Piece {
  text: string;
  class: string | undefined;
  isChanged: boolean;
}

export function cutByWords(text: string, tokens: readonly Token[] | undefined, words: readonly Stretch[]): Piece[] {
  const coloured = tokens ?? [{ text }];
  const pieces: Piece[] = [];
  let at = 0;
  let next = 0;
  for (const token of coloured) {
    const end = at + token.text.length;
    while (at < end) {
      while (next < words.length && (words[next]?.[1] ?? 0) <= at) next += 1;
      const word = words[next];
      const isChanged = word !== undefined && word[0] <= at;
      const border = word === undefined ? end : Math.min(end, isChanged ? word[1] : word[0]);
      pieces.push({ text: text.slice(at, border), class: "class" in token ? token.class : undefined, isChanged });
      at = border;
    }
  }
  if (at < text.length) pieces.push({ text: text.slice(at), class: undefined, isChanged: false });
  return pieces;
}
