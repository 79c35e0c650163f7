// The colour of a role as a token of the window.

import { hue } from "../agents/state";

const NEAR: Record<string, string> = { amber: "yellow", lime: "green", indigo: "blue", violet: "purple" };

export function roleHue(color: string | undefined): string {
  return hue(color === undefined ? undefined : (NEAR[color] ?? color));
}
