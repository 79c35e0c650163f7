/** What the frame around a target outside of the studio says, by its id. */
export const OUTSIDE: Readonly<Record<string, string>> = { composer: "Drop to start a subagent", tree: "Drop to start a subagent" };
