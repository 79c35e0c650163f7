// The selected agent's plan, what runs in the background below it, what it should be known about it, and its figures.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { Spinner, StateMark } from "../agents/StateMark";
import { isWaitedFor, sendToBackground, waitedFor } from "../agents/handOver";
import { KIND_WORD, activityOf, elapsed, hue, isAtWork, tokens } from "../agents/state";
import { useApp } from "../app/context";
import { Button } from "../parts/Button";
import { Icon, type IconName } from "../parts/Icon";
import { TodoList } from "../parts/TodoList";
import { Unseen } from "../parts/Unseen";
import { amount, clockSpan, plural } from "../parts/time";
import type { AgentView, HookRan, ShellOutcome, ShellView } from "../protocol.gen";
import { ReportCard } from "../report/ReportCard";
import { parseReport } from "../report/report";
import type { SessionStore } from "../session/store";
import { SetupList } from "../worktree/SetupList";
import s from "./Inspector.module.css";

export function Tasks(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const done = () => props.agent.todos.filter((todo) => todo.status === "completed").length;
  const children = createMemo(() => {
    const { order, agents } = props.session.state;
    return order.flatMap((id) => (agents[id]?.parent === props.agent.id ? [id] : []));
  });
  const shells = createMemo(() => props.session.state.shells.filter((shell) => shell.agent === props.agent.id).map((shell) => shell.id));
  const app = useApp();
  const waited = createMemo(() => waitedFor(props.session.state, props.agent.id));
  const cached = () => {
    const { input, cache_read, cache_write } = props.agent.usage;
    const all = input + cache_read + cache_write;
    return all === 0 ? undefined : Math.round((cache_read / all) * 100);
  };

  return (
    <div class={s.tasks}>
      <h3 class={s.heading}>
        Plan
        <Show when={props.agent.todos.length > 0}>
          <span class="num">
            {done()} of {props.agent.todos.length}
          </span>
        </Show>
      </h3>
      <Show when={props.agent.todos.length > 0} fallback={<p class={s.none}>This agent hasn't written a plan.</p>}>
        <TodoList todos={props.agent.todos} />
      </Show>

      <Show when={children().length > 0}>
        <h3 class={s.heading}>
          Delegated
          <Show when={waited().length > 1}>
            <Button small title="They go on as they are, and nobody waits for them" onClick={() => sendToBackground(app, waited())}>
              Send all {waited().length} to background
            </Button>
          </Show>
        </h3>
        <For each={children()}>
          {(id) => (
            <Show when={props.session.state.agents[id]}>
              {(agent) => (
                <Delegated agent={agent()} />
              )}
            </Show>
          )}
        </For>
      </Show>

      <Show when={shells().length > 0}>
        <h3 class={s.heading}>Commands in the background</h3>
        <For each={shells()}>
          {(id) => (
            <Show when={props.session.state.shells.find((shell) => shell.id === id)}>{(shell) => <Shell shell={shell()} />}</Show>
          )}
        </For>
      </Show>

      <Show when={props.agent.warnings.length > 0}>
        <h3 class={s.heading}>Warnings</h3>
        <For each={props.agent.warnings}>
          {(warning) => (
            <p class={s.warning}>
              <Icon name="alert" size={13} />
              {warning.message}
            </p>
          )}
        </For>
      </Show>

      <Show when={(props.agent.setup ?? []).length > 0}>
        <h3 class={s.heading}>Setup of its worktree</h3>
        <SetupList setup={props.agent.setup ?? []} />
      </Show>

      <Show when={(props.agent.hooks ?? []).length > 0}>
        <h3 class={s.heading}>Last hooks</h3>
        <ul aria-label="Last hooks">
          <For each={[...(props.agent.hooks ?? [])].reverse()}>{(ran) => <Hook ran={ran} />}</For>
        </ul>
      </Show>

      <Show when={props.agent.outcome?.kind === "completed" && props.agent.outcome}>
        {(outcome) => (
          <div class={s.ownReport}>
            <Show when={parseReport(outcome().report) === undefined}>
              <h3 class={s.heading}>Report</h3>
            </Show>
            <ReportCard text={outcome().report} directory={props.agent.directory} narrow />
          </div>
        )}
      </Show>

      <h3 class={s.heading}>Figures</h3>
      <dl class={s.facts}>
        <dt>Model</dt>
        <dd>{props.agent.model}</dd>
        <dt>Work</dt>
        <dd>
          {plural(props.agent.steps, "step")}, {plural(props.agent.calls, "tool call")}
        </dd>
        <dt>Tokens</dt>
        <dd>
          {amount(tokens(props.agent))}
          <Show when={cached() !== undefined}> · {cached()} % of the input from cache</Show>
        </dd>
        <Show when={!isAtWork(props.agent.state) && elapsed(props.agent, 0)}>
          {(ms) => (
            <>
              <dt>Last turn</dt>
              <dd>{clockSpan(ms())}</dd>
            </>
          )}
        </Show>
        <Show when={props.agent.worktree}>
          {(worktree) => (
            <>
              <dt>Branch</dt>
              <dd class="selectable">{worktree().branch}</dd>
              <dt>Base</dt>
              <Show when={worktree().base} fallback={<dd>being recorded</dd>}>
                <dd class="selectable">
                  <code>{worktree().base.slice(0, 12)}</code>
                  {worktree().base_is_snapshot ? ", a snapshot of uncommitted work" : ""}
                </dd>
              </Show>
            </>
          )}
        </Show>
        <dt>Folder</dt>
        <dd class="selectable">{props.agent.directory}</dd>
      </dl>
    </div>
  );
}

/** One quiet line. */
function Hook(props: { ran: HookRan }): JSX.Element {
  const words = () => {
    const { exit, warning } = props.ran;
    if (warning !== undefined) return warning;
    if (exit === undefined) return "ended early";
    return exit === 0 ? "" : exit === 2 ? "objected" : `exit ${exit}`;
  };
  return (
    <li class={s.hook} data-objects={words() !== ""}>
      {props.ran.event}{" "}
      <code>
        <Unseen text={props.ran.command} />
      </code>{" "}
      <Show when={words()}>
        <Unseen text={words()} />,{" "}
      </Show>
      <span class="num">{props.ran.duration_ms} ms</span>
    </li>
  );
}

/** A child with what it does, or what it reported. */
function Delegated(props: { agent: AgentView }): JSX.Element {
  const app = useApp();
  const [isOpen, setOpen] = createSignal(false);
  const report = () => (props.agent.outcome?.kind === "completed" ? props.agent.outcome.report : undefined);
  const activity = createMemo(() => activityOf(props.agent));
  return (
    <div class={s.delegated}>
      <button type="button" class={s.task} onClick={() => app.select(props.agent.id)}>
        <span style={{ color: hue(props.agent.color) }}>
          <Icon name={props.agent.kind} size={14} />
        </span>
        <span class={s.taskBody}>
          <span class="truncate" title={props.agent.title}>
            {props.agent.title}
          </span>
          <p class={`${s.taskLine} truncate`} title={activity().full}>
            {KIND_WORD[props.agent.kind]}
            {props.agent.background ? " in the background" : ""}
            {activity().short ? ` · ${activity().short}` : ""}
          </p>
        </span>
        <StateMark state={props.agent.state} />
      </button>
      <Show when={isWaitedFor(props.agent)}>
        <button
          type="button"
          class={s.reportFold}
          title="It goes on as it is, and nobody waits for it"
          aria-label={`Send to background: ${props.agent.title}`}
          onClick={() => sendToBackground(app, [props.agent])}
        >
          <Icon name="down" size={11} />
          Send to background
        </button>
      </Show>
      <Show when={report()}>
        {(text) => (
          <>
            <button
              type="button"
              class={s.reportFold}
              aria-expanded={isOpen()}
              aria-label={`Report of ${props.agent.title}`}
              onClick={() => setOpen(!isOpen())}
            >
              <Icon name="chevron" size={11} />
              Report
            </button>
            <Show when={isOpen()}>
              <div class={s.report}>
                <ReportCard text={text()} directory={props.agent.directory} narrow />
              </div>
            </Show>
          </>
        )}
      </Show>
    </div>
  );
}

const OUTCOME: Record<ShellOutcome["kind"], { icon: IconName; word: string }> = {
  completed: { icon: "done", word: "Done" },
  failed: { icon: "failed", word: "Failed" },
  stopped: { icon: "stopped", word: "Stopped" },
  interrupted: { icon: "interrupted", word: "Interrupted" },
};

function Shell(props: { shell: ShellView }): JSX.Element {
  const app = useApp();
  const outcome = () => props.shell.outcome;
  const words = () => {
    const how = outcome();
    if (!how) return "Running";
    return how.kind === "failed" ? `Failed: ${how.message}` : OUTCOME[how.kind].word;
  };
  return (
    <div class={s.shell} data-outcome={outcome()?.kind ?? "running"}>
      <span class={s.shellMark}>
        <Show when={outcome()} fallback={<Spinner />}>
          {(how) => <Icon name={OUTCOME[how().kind].icon} size={13} />}
        </Show>
      </span>
      <span class={s.taskBody}>
        <code class="selectable">
          <Unseen text={props.shell.command} />
        </code>
        <p class={s.taskLine}>
          {words()}
          <Show when={props.shell.ended_at}>{(end) => `, ${clockSpan(Date.parse(end()) - Date.parse(props.shell.started_at))}`}</Show>
        </p>
      </span>
      <Show when={!outcome()}>
        <Button small onClick={() => void app.send({ type: "stop_shell", task: props.shell.id })}>
          Stop
        </Button>
      </Show>
    </div>
  );
}
