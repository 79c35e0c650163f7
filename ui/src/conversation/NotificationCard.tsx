// A task's end, told to its parent. Drawn so that nobody takes it for something a person wrote.

import { Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Icon } from "../parts/Icon";
import { ReportCard } from "../report/ReportCard";
import { fieldOf, gist, parseReport } from "../report/report";
import type { SessionStore } from "../session/store";
import { useFound } from "./finding";
import { parseNotification } from "./notification";
import s from "./NotificationCard.module.css";

const WORDS: Record<string, string> = {
  completed: "is done",
  failed: "failed",
  stopped: "was stopped",
  interrupted: "was interrupted",
};

export function NotificationCard(props: { row: string; text: string; session: SessionStore }): JSX.Element {
  const app = useApp();
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => props.row,
    () => setOpen(true),
  );
  const told = createMemo(() => parseNotification(props.text));
  const agent = () => {
    const id = told().taskId;
    return id === undefined ? undefined : props.session.state.agents[id];
  };
  const title = () => agent()?.title ?? told().description ?? told().taskId ?? "A task";
  const line = createMemo(() => gist(told().summary).slice(0, 400));
  const hasIssues = createMemo(() => {
    const report = parseReport(told().summary);
    return report !== undefined && fieldOf(report, "issues")?.isNone === false;
  });

  return (
    <div class={s.card} data-status={told().status}>
      <div class={s.head}>
        <button type="button" class={s.fold} aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
          <Icon name={told().status === "completed" ? "done" : told().status === "failed" ? "failed" : "bell"} size={14} class={s.icon} />
          <span class={s.title}>
            <strong>{title()}</strong> {WORDS[told().status ?? ""] ?? "reports"}
          </span>
          <Show when={hasIssues()}>
            <span class={s.flag}>
              <Icon name="alert" size={12} /> names issues
            </span>
          </Show>
          <span class={s.by}>Notification from Offshoot</span>
          <Icon name="chevron" size={12} class={s.chevron} />
        </button>
        <Show when={agent()}>
          {(target) => (
            <button type="button" class={s.go} onClick={() => app.select(target().id)}>
              Open
            </button>
          )}
        </Show>
      </div>
      <Show
        when={isOpen()}
        fallback={
          <Show when={line()}>
            <p class={s.gist} dir="auto" title={line()}>
              {line()}
            </p>
          </Show>
        }
      >
        <div class={s.report}>
          <ReportCard text={told().summary} directory={agent()?.directory} bare />
        </div>
      </Show>
    </div>
  );
}
