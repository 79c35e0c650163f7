// The middle region: the path to the agent, its conversation, and the composer.

import { Show, createEffect, createMemo, createSignal, on, untrack, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Composer } from "../composer/Composer";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { VirtualList, type ListHandle } from "../parts/VirtualList";
import { plural } from "../parts/time";
import type { AgentId, AgentView } from "../protocol.gen";
import type { SessionStore, Transcript } from "../session/store";
import { AgentBar } from "./AgentBar";
import { FindBar } from "./FindBar";
import { RowView } from "./RowView";
import { FoundRowProvider, useFind } from "./finding";
import { buildRows, isSameRow, liveShape, type Row } from "./rows";
import { isNearEnd, keepsEnd, pushesUp, type ScrollPlace } from "./stick";
import s from "./Conversation.module.css";

/** How long a push by wheel, key or finger goes on to move a box that scrolls smoothly. */
const PUSH_MS = 400;
/** How long what was unfolded takes to be drawn and measured. */
const UNFOLD_MS = 300;

export function Conversation(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  return (
    <section class={s.region} aria-label="Conversation">
      <AgentBar session={props.session} agent={props.agent} />
      <Show when={props.agent.id} keyed>
        {(id) => <Reading session={props.session} id={id} agent={props.agent} />}
      </Show>
      <WaitingElsewhere session={props.session} agent={props.agent} />
      <Composer session={props.session} agent={props.agent} />
    </section>
  );
}

function Reading(props: { session: SessionStore; id: AgentId; agent: AgentView }): JSX.Element {
  const transcript = createMemo(() => props.session.transcript(props.id));
  return (
    <Show
      when={transcript().data}
      fallback={
        <Show when={transcript().failed} fallback={<div class={s.loading}>Reading the conversation…</div>}>
          {(problem) => (
            <div class={s.failed} role="alert">
              <p class={s.failedTitle}>The conversation could not be read.</p>
              <p>{problem().message}</p>
              <p>Nothing is lost: it stays in the session's log. {problem().hint}</p>
              <Button onClick={() => props.session.retry(props.id)}>Try again</Button>
            </div>
          )}
        </Show>
      }
    >
      <Rows session={props.session} id={props.id} agent={props.agent} transcript={transcript()} />
    </Show>
  );
}

function Rows(props: { session: SessionStore; id: AgentId; agent: AgentView; transcript: Transcript }): JSX.Element {
  const [showInherited, setShowInherited] = createSignal(false);
  const [atEnd, setAtEnd] = createSignal(true);
  const [isShifting, setShifting] = createSignal(false);
  let handle: ListHandle | undefined;
  let box: HTMLElement | undefined;
  let before: ScrollPlace | undefined;
  let pushedAt = Number.NEGATIVE_INFINITY;
  let unfoldedAt = Number.NEGATIVE_INFINITY;

  const shape = createMemo(() => liveShape(props.session.live(props.id)));
  const rows = createMemo<Row[]>(() => {
    const data = props.transcript.data;
    shape();
    if (!data) return [];
    return buildRows({
      agent: props.agent,
      transcript: data,
      // Of what is being written only its shape makes rows; its text is read by the row that shows it.
      live: untrack(() => props.session.live(props.id)),
      session: props.session.state,
      showInherited: showInherited(),
    });
  });
  const keys = createMemo(() => rows().map((row) => row.key), undefined, {
    equals: (a, b) => a.length === b.length && a.every((key, at) => key === b[at]),
  });
  const byKey = createMemo(() => new Map(rows().map((row) => [row.key, row])));

  const place = (): ScrollPlace | undefined =>
    box && { offset: box.scrollTop, size: box.scrollHeight, viewport: box.clientHeight };
  const toEnd = () => {
    // Rows that were never in sight have no size yet: the list is told the row, and then moved as far as it goes.
    const last = keys().length - 1;
    if (last >= 0) handle?.scrollToIndex(last, { align: "end" });
    hold();
  };
  /** Moves what is there already to its end, before it is painted. */
  const hold = () => {
    if (!box || !atEnd()) return;
    if (performance.now() - unfoldedAt < UNFOLD_MS) {
      // Who unfolds something wants to read it from its beginning.
      before = place();
      setAtEnd(before === undefined || isNearEnd(before));
      return;
    }
    box.scrollTop = box.scrollHeight;
    before = place();
  };
  const follow = () => {
    if (atEnd()) queueMicrotask(toEnd);
  };
  const onScroll = (offset: number) => {
    const now = place();
    if (!now) return;
    const isPushed = performance.now() - pushedAt < PUSH_MS;
    const isKept = keepsEnd(atEnd(), before, now, isPushed);
    before = now;
    setAtEnd(isKept);
    if (isKept && !isNearEnd(now)) hold();
    if (offset < 200 && keys().includes("older")) void older();
  };
  const watch = (element: HTMLElement) => {
    box = element;
    const push = (event: Event) => {
      if (pushesUp(event)) pushedAt = performance.now();
    };
    for (const type of ["wheel", "touchmove", "keydown"]) element.addEventListener(type, push, { passive: true });
    element.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest('[aria-expanded="false"], summary')) unfoldedAt = performance.now();
    }, { capture: true });
  };
  const older = async () => {
    if (props.transcript.loadingOlder) return;
    setShifting(true);
    await props.session.loadOlder(props.id);
    requestAnimationFrame(() => setShifting(false));
  };
  const unfold = () => {
    setShowInherited(!showInherited());
    if (showInherited()) setAtEnd(false);
  };

  const find = useFind({
    rows,
    transcript: () => props.transcript.data,
    live: () => props.session.live(props.id),
    box: () => box,
    firstInSight: () => handle?.findItemIndex(handle.scrollOffset) ?? 0,
    reveal: (row) => {
      setAtEnd(false);
      handle?.scrollToIndex(row, { align: "center" });
    },
  });

  createEffect(
    on(keys, () => {
      if (atEnd()) props.session.tidy(props.id);
      follow();
    }),
  );

  return (
    <div class={s.reading}>
      <FoundRowProvider value={() => (find.isOpen() ? find.row() : undefined)}>
        <VirtualList
          class={s.list}
          keys={keys()}
          shift={isShifting()}
          handle={(next) => {
            handle = next;
            follow();
          }}
          onScroll={onScroll}
          onResize={hold}
          box={watch}
          label="Messages"
        >
          {(key) => {
            const row = createMemo<Row | undefined>((before) => byKey().get(key) ?? before, undefined, { equals: isSameRow });
            return (
              <Show when={row()}>
                {(current) => (
                  <div class={s.cell}>
                    <RowView
                      row={current()}
                      session={props.session}
                      agent={props.agent}
                      transcript={props.transcript}
                      onOlder={() => void older()}
                      onInherited={unfold}
                    />
                  </div>
                )}
              </Show>
            );
          }}
        </VirtualList>
      </FoundRowProvider>
      <Show when={find.isOpen()}>
        <FindBar
          query={find.query()}
          count={find.matches().length}
          current={find.current()}
          isPart={(props.transcript.data?.first ?? 0) > 0}
          field={find.field}
          onQuery={find.setQuery}
          onStep={find.step}
          onClose={find.close}
        />
      </Show>
      <Show when={!atEnd()}>
        {/* Below the messages and not over them: nothing that is read is covered. */}
        <div class={s.below}>
          <button
            type="button"
            onClick={() => {
              setAtEnd(true);
              unfoldedAt = Number.NEGATIVE_INFINITY;
              toEnd();
            }}
          >
            <Icon name="down" size={13} />
            {props.session.live(props.id) ? "New below" : "To the end"}
          </button>
        </div>
      </Show>
    </div>
  );
}

/** Says that other agents of the session wait, where the person is looking. */
function WaitingElsewhere(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const others = createMemo(() => props.session.state.requests.filter((request) => request.asker.at(-1)?.agent !== props.agent.id));
  const names = () => [...new Set(others().map((request) => request.asker.at(-1)?.title ?? ""))];
  return (
    <Show when={others().length > 0}>
      <div class={s.elsewhere}>
        <Icon name="bell" size={14} />
        <span class="truncate" title={names().join(", ")}>
          {plural(others().length, "request waits", "requests wait")} for you: {names().join(", ")}
        </span>
        <Button small kind="quiet" onClick={() => app.showRequests()}>
          Show
        </Button>
      </div>
    </Show>
  );
}
