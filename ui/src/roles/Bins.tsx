// What a role may use: a palette of tools and three bins to drag them into.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { isComposing } from "../composer/commands";
import { Icon } from "../parts/Icon";
import type { RoleFields, RoleTool } from "../protocol.gen";
import { ToolChip } from "./ToolChip";
import { BINS, BIN_WORD, chipsOf, hasAllTools, isAvailable, isSame, joinEntry, place, withAllTools, withArgument, withRule, splitEntry, type Bin, type Carried, type Chip, type Spot } from "./draft";
import { createDrag, type Target } from "../parts/drag";
import type { Editor } from "./editor";
import { Ghost } from "../parts/Ghost";
import { OUTSIDE } from "./outside";
import { RuleEditor } from "./RuleEditor";
import { NO_FIELDS } from "./studio";
import s from "./Bins.module.css";

/** A rule that is being written: of a chip, or a new one. */
interface Writing {
  chip: Chip | undefined;
  tool: string;
  from: Carried | undefined;
}

export function Bins(props: { editor: Editor; tools: readonly RoleTool[] }): JSX.Element {
  const { studio } = useApp();
  const { editor } = props;
  const [writing, setWriting] = createSignal<Writing>();
  const [name, setName] = createSignal("");
  let region: HTMLDivElement | undefined;

  const fields = () => editor.fields() ?? NO_FIELDS;
  const bins = createMemo(() => chipsOf(fields(), props.tools), undefined, { equals: isSame });
  // Servers come and go; their tools are not held against a role.
  const isKnown = (tool: string) => tool.startsWith("mcp__") || props.tools.length === 0 || props.tools.some((known) => known.name === tool);
  const isAll = () => hasAllTools(fields());
  const groups = createMemo(() => {
    const isServer = (tool: RoleTool) => tool.name.startsWith("mcp__");
    return [
      { title: "Built-in", tools: props.tools.filter((tool) => !isServer(tool)) },
      { title: "MCP", tools: props.tools.filter(isServer) },
    ].filter((group) => group.tools.length > 0);
  });

  const put = (next: RoleFields) => editor.setFields(next, "");

  /** The chip that a move led to, for the focus to follow. */
  const follow = (entry: string, bin: Bin | undefined) =>
    queueMicrotask(() => {
      const { tool } = splitEntry(entry);
      const chips = [...(region?.querySelectorAll<HTMLElement>("[data-bin] [data-tool]") ?? [])];
      const isIn = (chip: HTMLElement) => bin === undefined || chip.closest("[data-bin]")?.getAttribute("data-bin") === bin;
      const found =
        chips.find((chip) => isIn(chip) && chip.dataset["entry"] === entry) ??
        chips.find((chip) => isIn(chip) && chip.dataset["tool"] === tool) ??
        chips.find((chip) => chip.dataset["tool"] === tool);
      found?.focus();
    });

  const move = (carried: Carried, to: Spot) => {
    const before = fields();
    const placed = place(before, props.tools, carried, to);
    if (placed.needs !== undefined) {
      setWriting({ chip: undefined, tool: placed.needs, from: carried });
      studio.announce(`Which calls of ${placed.needs} run without asking? Write a rule.`);
      return;
    }
    put(placed.fields);
    const words = isSame(before, placed.fields) ? "Nothing changed." : to === "palette" ? `${carried.entry} taken out.` : `${carried.entry} is in ${BIN_WORD[to]}.`;
    studio.announce(placed.note ?? words);
    setNote(placed.note);
    if (to !== "palette") follow(carried.entry, to);
  };
  const [note, setNote] = createSignal<string>();

  const spotElement = (spot: Spot) => () => region?.querySelector(`[data-spot="${spot}"]`) ?? null;
  const targets = (carried: Carried): Target[] =>
    ([...BINS, "palette"] as Spot[])
      .filter((spot) => spot !== carried.from)
      .map((spot) => ({ id: spot, label: spot === "palette" ? "Take out" : BIN_WORD[spot], element: spotElement(spot) }));
  const drag = createDrag<Carried>({
    targets,
    announce: studio.announce,
    drop: (carried, target) => move(carried, target as Spot),
  });
  const spotState = (spot: Spot) => {
    const now = drag.state();
    if (!now) return undefined;
    return now.over === spot ? "over" : now.targets.some((target) => target.id === spot) ? "possible" : "off";
  };

  const write = (argument: string) => {
    const now = writing();
    setWriting(undefined);
    if (!now) return;
    setNote(undefined);
    if (now.chip) put(withArgument(fields(), now.chip, argument));
    else if (argument.trim() === "") return;
    else {
      const at = now.from?.from === "denied" ? now.from : undefined;
      const open = at ? { ...fields(), disallowed_tools: fields().disallowed_tools.filter((_, place) => place !== at.at) } : fields();
      put(withRule(open, now.tool, argument));
      studio.announce(`${now.tool}(${argument.trim()}) is in Allowed.`);
    }
    follow(joinEntry(now.tool, argument), now.chip?.bin);
  };
  const isWriting = (chip: Chip) => writing()?.chip?.id === chip.id;

  const about: Record<Bin, () => string> = {
    allowed: () => "runs without asking",
    ask: () => {
      switch (fields().permission) {
        case "dont-ask":
          return "refused: in this mode nobody is asked";
        case "bypass":
          return "not asked: this mode bypasses it";
        case "accept-edits":
          return "a person is asked; edits are not asked in this mode";
        case "plan":
          return "refused: in plan mode it only reads";
        default:
          return "a person is asked each time";
      }
    },
    denied: () => "never, whatever else says so",
  };

  return (
    <div ref={region} class={s.tools}>
      <div class={s.top}>
        <h3>Tools</h3>
        <div class={s.which} role="group" aria-label="Which tools">
          <button type="button" aria-pressed={isAll()} onClick={() => !isAll() && put(withAllTools(fields(), props.tools, true))}>
            All but the denied
          </button>
          <button type="button" aria-pressed={!isAll()} onClick={() => isAll() && put(withAllTools(fields(), props.tools, false))}>
            Only those listed
          </button>
        </div>
      </div>
      <div class={s.palette} role="group" aria-label="Tools" data-spot="palette" data-drop={spotState("palette")}>
        <For each={groups()}>
          {(group) => (
            <div class={s.group}>
              <Show when={groups().length > 1}>
                <span class={s.groupTitle}>{group.title}</span>
              </Show>
              <For each={group.tools}>
                {(tool) => (
                  <ToolChip
                    entry={tool.name}
                    spot="palette"
                    title={tool.about}
                    isUsed={isAvailable(fields(), tool.name) || fields().disallowed_tools.includes(tool.name)}
                    carried={{ entry: tool.name, from: "palette" }}
                    drag={drag}
                    isFixed={!editor.isEditable()}
                    onMove={(to) => move({ entry: tool.name, from: "palette" }, to)}
                  />
                )}
              </For>
            </div>
          )}
        </For>
        <span class={s.byName}>
          <input
            type="text"
            aria-label="Add a tool by name"
            placeholder="mcp__server"
            title="A tool or server by name; Enter puts it into Ask"
            spellcheck={false}
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (isComposing(event) || event.key !== "Enter" || name().trim() === "") return;
              event.preventDefault();
              move({ entry: name().trim(), from: "palette" }, "ask");
              setName("");
            }}
          />
        </span>
        <Show when={spotState("palette") === "over"}>
          <span class={s.verb}>Take out</span>
        </Show>
      </div>
      <div class={s.bins}>
        <For each={BINS}>
          {(bin) => (
            <div class={s.bin} role="group" aria-label={BIN_WORD[bin]} data-bin={bin} data-spot={bin} data-drop={spotState(bin)}>
              <p class={s.binHead}>
                <strong>{BIN_WORD[bin]}</strong>
                <span>{about[bin]()}</span>
              </p>
              <div class={s.chips}>
                <For each={bins()[bin]}>
                  {(chip) => (
                    <Show
                      when={!isWriting(chip)}
                      fallback={<RuleEditor tool={chip.tool} argument={chip.argument ?? ""} onDone={write} onCancel={() => setWriting(undefined)} />}
                    >
                      <ToolChip
                        entry={chip.entry}
                        spot={bin}
                        implied={chip.implied}
                        carried={carriedOf(chip)}
                        drag={drag}
                        isFixed={!editor.isEditable()}
                        isUnknown={!isKnown(chip.tool)}
                        onMove={(to) => move(carriedOf(chip), to)}
                        onArgument={chip.implied ? undefined : () => setWriting({ chip, tool: chip.tool, from: undefined })}
                      />
                    </Show>
                  )}
                </For>
                <Show when={bin === "allowed" && writing()?.chip === undefined && writing()}>
                  {(now) => <RuleEditor tool={now().tool} argument="" onDone={write} onCancel={() => setWriting(undefined)} />}
                </Show>
                <Show when={bins()[bin].length === 0 && !(bin === "allowed" && writing())}>
                  <p class={s.empty}>Drag tools here</p>
                </Show>
              </div>
            </div>
          )}
        </For>
      </div>
      <p class={s.note}>
        <Icon name={note() === undefined ? "thinking" : "alert"} size={13} />
        <span>{note() ?? "A role file has no list of what asks. A tool in Ask stands in it without a rule, so each call is decided by the permission mode; a rule such as Bash(git diff *) in Allowed lets just those calls run."}</span>
      </p>
      <Ghost drag={drag.state()} frames={OUTSIDE} />
    </div>
  );
}

function carriedOf(chip: Chip): Carried {
  const at = chip.id.startsWith("implied:") ? undefined : Number(chip.id.split(":")[1]);
  return { entry: chip.entry, from: chip.bin, ...(at === undefined ? {} : { at }) };
}
