// Draws one row of a conversation as what it is.

import { For, Match, Show, Switch, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Icon } from "../parts/Icon";
import { Markdown } from "../parts/Markdown";
import { Menu } from "../parts/Menu";
import { Unseen } from "../parts/Unseen";
import { plural } from "../parts/time";
import type { AgentView, Message } from "../protocol.gen";
import { RequestRow } from "../requests/RequestRow";
import { ReportCard } from "../report/ReportCard";
import { parseReport } from "../report/report";
import type { SessionStore, Transcript } from "../session/store";
import { CallCard } from "./CallCard";
import { ChildCard } from "./ChildCard";
import { NotificationCard } from "./NotificationCard";
import { PlanCard } from "./PlanCard";
import { ReadsCard } from "./ReadsCard";
import { StateRow } from "./StateRow";
import { useFound } from "./finding";
import { readFrames } from "./framed";
import { messageAsMarkdown, messageWithCalls } from "./markdown";
import type { Row } from "./rows";
import { SummaryRow } from "./SummaryRow";
import s from "./RowView.module.css";

export interface RowProps {
  row: Row;
  session: SessionStore;
  agent: AgentView;
  transcript: Transcript;
  onOlder: () => void;
  onInherited: () => void;
}

type Of<T extends Row["type"]> = Extract<Row, { type: T }>;

export function RowView(props: RowProps): JSX.Element {
  const is = <T extends Row["type"]>(type: T): Of<T> | false => (props.row.type === type ? (props.row as Of<T>) : false);
  return (
    <div class={s.row} data-key={props.row.key} data-type={props.row.type} data-inherited={"isInherited" in props.row && props.row.isInherited}>
      <Switch>
        <Match when={is("text")}>{(row) => <TextRow {...props} row={row()} />}</Match>
        <Match when={is("thinking")}>{(row) => <ThinkingRow {...props} row={row()} />}</Match>
        <Match when={is("reads")}>{(row) => <ReadsCard calls={row().calls} session={props.session} agent={props.agent} transcript={props.transcript} />}</Match>
        <Match when={is("call")}>
          {(row) => (
            <Show
              when={row().call.name === "Agent"}
              fallback={<CallCard call={row().call} session={props.session} agent={props.agent} transcript={props.transcript} />}
            >
              <ChildCard call={row().call} session={props.session} agent={props.agent} transcript={props.transcript} />
            </Show>
          )}
        </Match>
        <Match when={is("plan")}>
          {(row) => <PlanCard call={row().call} isLatest={row().isLatest} session={props.session} agent={props.agent} transcript={props.transcript} />}
        </Match>
        <Match when={is("request")}>{(row) => <RequestRow id={row().request} session={props.session} />}</Match>
        <Match when={is("hidden")}>{(row) => <p class={s.quiet}>{row().words}</p>}</Match>
        <Match when={is("inherited")}>{(row) => <InheritedRow {...props} row={row()} />}</Match>
        <Match when={is("older")}>
          <button type="button" class={s.older} onClick={() => props.onOlder()} disabled={props.transcript.loadingOlder}>
            {props.transcript.loadingOlder ? "Reading older messages…" : "Older messages"}
          </button>
        </Match>
        <Match when={is("queued")}>{(row) => <QueuedRow {...props} row={row()} />}</Match>
        <Match when={is("state")}>
          <StateRow session={props.session} agent={props.agent} transcript={props.transcript} />
        </Match>
      </Switch>
    </div>
  );
}

/** The text of a block, stored or still being written. */
function useText(props: RowProps & { row: Of<"text"> | Of<"thinking"> }): { text: () => string; isLive: () => boolean; gap: () => boolean } {
  const stored = () => {
    const data = props.transcript.data;
    return data?.messages[props.row.index - data.first]?.blocks[props.row.block];
  };
  const live = () => {
    const message = props.session.live(props.agent.id);
    return message?.index === props.row.index ? message.blocks[props.row.block] : undefined;
  };
  return {
    text: () => {
      const block = stored();
      if (block?.type === "text") return block.text;
      if (block?.type === "thinking") return block.thinking;
      return live()?.text ?? "";
    },
    isLive: () => stored() === undefined,
    gap: () => stored() === undefined && live()?.gap === true,
  };
}

function TextRow(props: RowProps & { row: Of<"text"> }): JSX.Element {
  const app = useApp();
  const { text, isLive, gap } = useText(props);
  const message = () => {
    const data = props.transcript.data;
    return data?.messages[props.row.index - data.first];
  };
  const hasCalls = () => message()?.blocks.some((block) => block.type === "call") === true;
  const copy = (write: (message: Message) => string) => {
    const whole = message();
    void navigator.clipboard.writeText(whole ? write(whole) : text()).catch((error: unknown) => app.report(error));
  };
  // Who has an end reports; the others only write.
  const isReport = createMemo(
    () => (props.agent.kind === "fork" || props.agent.kind === "subagent") && !props.row.isInherited && parseReport(text(), isLive()) !== undefined,
  );
  const tools = () => (
    <span class={s.tools}>
      <Menu
        label="Message actions"
        entries={[
          // Children have no forks.
          ...(props.agent.kind === "root"
            ? [
                {
                  label: "Fork from here",
                  icon: "fork" as const,
                  note: `The fork inherits the first ${plural(props.row.index + 1, "message")}`,
                  onSelect: () => app.setForkPoint({ agent: props.agent.id, messages: props.row.index + 1 }),
                },
              ]
            : []),
          {
            label: "Copy as Markdown",
            icon: "copy",
            onSelect: () => copy((message) => messageAsMarkdown(message)),
          },
          ...(hasCalls()
            ? [
                {
                  label: "Copy with tool calls",
                  icon: "command" as const,
                  note: "Inputs and outputs as code",
                  onSelect: () => copy((message) => messageWithCalls(message, props.transcript.data?.calls ?? {})),
                },
              ]
            : []),
        ]}
      />
    </span>
  );
  return (
    <Switch>
      <Match when={props.row.origin === "model"}>
        <div class={s.model} data-report={isReport()}>
          <Show when={gap()}>
            <p class={s.quiet}>The beginning was missed; it appears when the message is complete.</p>
          </Show>
          <Show when={isReport()} fallback={<Markdown text={text()} streaming={isLive()} />}>
            <ReportCard text={text()} directory={props.agent.directory} streaming={isLive()} />
          </Show>
          <Show when={!isLive()}>{tools()}</Show>
        </div>
      </Match>
      <Match when={props.row.origin === "user"}>
        <div class={s.user}>
          <span class="sr-only">You wrote: </span>
          <p class="selectable" dir="auto">
            {text()}
          </p>
          {tools()}
        </div>
      </Match>
      <Match when={props.row.origin === "directive" || props.row.origin === "brief"}>
        <Directive row={props.row.key} text={text()} isFork={props.row.origin === "directive"} />
      </Match>
      <Match when={props.row.origin === "notification"}>
        <NotificationCard row={props.row.key} text={text()} session={props.session} />
      </Match>
      <Match when={props.row.origin === "summary"}>
        <SummaryRow row={props.row.key} text={text()} blocks={message()?.blocks ?? []} />
      </Match>
      <Match when={props.row.origin === "reminder"}>
        <Added title="Reminder" text={readFrames(text()).frames[0]?.text ?? text()} />
      </Match>
    </Switch>
  );
}

/** What a child was told to do; what the program added to it is folded. */
function Directive(props: { row: string; text: string; isFork: boolean }): JSX.Element {
  const framed = createMemo(() => readFrames(props.text));
  return (
    <>
      <Show when={framed().text !== ""}>
        <div class={s.directive}>
          <p class={s.label}>
            <Icon name={props.isFork ? "fork" : "subagent"} size={13} />
            {props.isFork ? "Directive for this fork" : "Brief for this agent"}
          </p>
          <Long row={props.row} text={framed().text} />
        </div>
      </Show>
      <For each={framed().frames}>{(frame) => <Added title={frame.title} text={frame.text} />}</For>
    </>
  );
}

function Added(props: { title: string; text: string }): JSX.Element {
  return (
    <details class={s.details}>
      <summary>
        <Icon name="chevron" size={12} />
        {props.title}, from Offshoot
      </summary>
      <pre class="selectable">
        <Unseen text={props.text} />
      </pre>
    </details>
  );
}

/** A text that is cut when long, with the rest on demand. */
function Long(props: { row: string; text: string }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => props.row,
    () => setOpen(true),
  );
  const isLong = () => props.text.length > 900 || props.text.split("\n").length > 12;
  return (
    <>
      <div class="selectable" classList={{ [s.clamped ?? ""]: isLong() && !isOpen() }}>
        <Markdown text={props.text} />
      </div>
      <Show when={isLong()}>
        <button type="button" class={s.link} onClick={() => setOpen(!isOpen())}>
          {isOpen() ? "Show less" : "Show all"}
        </button>
      </Show>
    </>
  );
}

function ThinkingRow(props: RowProps & { row: Of<"thinking"> }): JSX.Element {
  const { text, isLive } = useText(props);
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => props.row.key,
    () => setOpen(true),
  );
  const preview = () => (isLive() ? text().trimEnd().split("\n").at(-1)?.slice(-160) : text().trim().split("\n", 1)[0]?.slice(0, 160));
  return (
    <div class={s.thinking}>
      <button type="button" class={s.fold} aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
        <Icon name="thinking" size={13} />
        <span class={s.foldWord}>{isLive() ? "Thinking" : "Thought"}</span>
        <Show when={!isOpen()}>
          <span class={s.preview}>{preview()}</span>
        </Show>
        <Icon name="chevron" size={12} class={s.chevron} />
      </button>
      <Show when={isOpen()}>
        <div class={s.thought}>
          <Markdown text={text()} />
        </div>
      </Show>
    </div>
  );
}

function InheritedRow(props: RowProps & { row: Of<"inherited"> }): JSX.Element {
  const app = useApp();
  const from = () => {
    const id = props.agent.inherited?.from;
    return id === undefined ? undefined : props.session.state.agents[id];
  };
  return (
    <div class={s.inherited}>
      <button type="button" class={s.fold} aria-expanded={props.row.isOpen} onClick={() => props.onInherited()}>
        <Icon name="chevron" size={12} class={s.chevron} />
        Inherits {plural(props.row.messages, "message")} from {from()?.title ?? "its parent"}
      </button>
      <Show when={from()}>
        {(agent) => (
          <button type="button" class={s.link} onClick={() => app.select(agent().id)}>
            Go there
          </button>
        )}
      </Show>
    </div>
  );
}

function QueuedRow(props: RowProps & { row: Of<"queued"> }): JSX.Element {
  const app = useApp();
  const isOwn = () => props.row.input.origin !== "notification";
  const own = () => props.agent.queue.filter((input) => input.origin !== "notification");
  const place = () => own().findIndex((input) => input.id === props.row.input.id) + 1;
  const withdraw = () => app.send({ type: "withdraw_input", agent: props.agent.id, input: props.row.input.id });
  return (
    <Show
      when={isOwn()}
      fallback={
        <p class={s.queuedNote}>
          <Icon name="hourglass" size={12} />
          A notification waits for the next step
        </p>
      }
    >
      <div class={s.user} data-queued="true">
        <p class={s.label}>
          <Icon name="hourglass" size={12} />
          <span class={s.queuedWords}>
            Queued{own().length > 1 ? ` ${place()} of ${own().length}` : ""}: taken in at the next step
          </span>
          <button type="button" class={s.link} onClick={() => void withdraw().then((done) => done && app.propose({ text: props.row.input.text, send: false }))}>
            Edit
          </button>
          <button type="button" class={s.link} onClick={() => void withdraw()}>
            Withdraw
          </button>
        </p>
        <p class={`${s.queuedText} selectable`} dir="auto" title={props.row.input.text.length > 400 ? props.row.input.text.slice(0, 4000) : undefined}>
          {props.row.input.text.length > 4000 ? `${props.row.input.text.slice(0, 4000)}…` : props.row.input.text}
        </p>
      </div>
    </Show>
  );
}
