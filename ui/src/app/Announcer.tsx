// Says aloud, to who can't see the tree, what needs them or is over: new requests and agents that have ended.

import { createEffect, createSignal, type JSX } from "solid-js";
import { KIND_WORD, faceOfState, isFinished, titleOf } from "../agents/state";
import { plural } from "../parts/time";
import type { SessionStore } from "../session/store";

export function Announcer(props: { session: SessionStore }): JSX.Element {
  const [words, setWords] = createSignal("");
  // What was there when the window opened is no news.
  let requests: ReadonlySet<string> | undefined;
  let ended: ReadonlySet<string> | undefined;

  createEffect(() => {
    const { state } = props.session;
    const now = new Set(state.requests.map((request) => request.id));
    const news = state.requests.filter((request) => requests !== undefined && !requests.has(request.id));
    requests = now;
    const first = news[0];
    if (!first) return;
    const more = news.length > 1 ? `, and ${plural(news.length - 1, "other request")}` : "";
    setWords(`${first.asker.at(-1)?.title ?? "An agent"} waits for you: ${first.tool}${more}.`);
  });
  createEffect(() => {
    const { state } = props.session;
    const now = new Set(state.order.filter((id) => state.agents[id] !== undefined && isFinished(state.agents[id].state)));
    const news = [...now].filter((id) => ended !== undefined && !ended.has(id));
    ended = now;
    const told = news.slice(0, 3).flatMap((id) => {
      const agent = state.agents[id];
      return agent ? [`${KIND_WORD[agent.kind]} ${titleOf(state, agent)}: ${faceOfState(agent.state).word}`] : [];
    });
    if (told.length === 0) return;
    setWords(`${told.join("; ")}${news.length > told.length ? `; and ${news.length - told.length} more` : ""}.`);
  });
  return (
    <p class="sr-only" role="status" aria-label="News">
      {words()}
    </p>
  );
}
