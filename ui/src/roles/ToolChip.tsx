// A tool in the palette or in a bin.

import { Show, type JSX } from "solid-js";
import { Menu, type MenuEntry } from "../parts/Menu";
import { Unseen } from "../parts/Unseen";
import { Icon } from "../parts/Icon";
import { BINS, BIN_WORD, splitEntry, type Carried, type Spot } from "./draft";
import type { Dragging } from "../parts/drag";
import s from "./ToolChip.module.css";

export function ToolChip(props: {
  entry: string;
  spot: Spot;
  carried: Carried;
  drag: Dragging<Carried>;
  onMove: (to: Spot) => void;
  onArgument?: (() => void) | undefined;
  implied?: "all" | "rest" | undefined;
  /** In the palette: the role has it already. */
  isUsed?: boolean;
  title?: string;
  /** No tool here is called so. */
  isUnknown?: boolean;
  /** It only shows what is so. */
  isFixed: boolean;
}): JSX.Element {
  const parts = () => splitEntry(props.entry);
  const isHeld = () => {
    const item = props.drag.state()?.item;
    return item?.entry === props.carried.entry && item.from === props.carried.from && item.at === props.carried.at;
  };
  const entries = (): MenuEntry[] => {
    const list: MenuEntry[] = BINS.filter((bin) => bin !== props.spot).map((bin) => ({
      label: props.spot === "palette" ? `Add to ${BIN_WORD[bin]}` : `Move to ${BIN_WORD[bin]}`,
      onSelect: () => props.onMove(bin),
    }));
    const { onArgument } = props;
    if (onArgument) list.push({ label: parts().argument === undefined ? "Write a rule…" : "Change the rule…", icon: "edit", apart: true, onSelect: () => onArgument() });
    if (props.spot !== "palette" && !props.implied) list.push({ label: "Take out", icon: "close", apart: !onArgument, onSelect: () => props.onMove("palette") });
    return list;
  };
  const why = () =>
    props.isUnknown ? "A role can't have a tool of this name here" : props.implied === "all" ? "The role has all tools that are not denied" : props.implied === "rest" ? "All calls that no rule allows" : props.title;

  return (
    <span
      class={s.chip}
      data-spot-kind={props.spot}
      data-implied={props.implied !== undefined}
      data-used={props.isUsed === true}
      data-held={isHeld()}
      data-unknown={props.isUnknown === true}
      title={why()}
      onPointerDown={(event) => !props.isFixed && props.drag.onPointerDown(event, props.carried, props.entry)}
    >
      <span class={s.grip} data-grip aria-hidden="true">
        <Icon name="grip" size={12} />
      </span>
      <button
        type="button"
        class={s.name}
        data-tool={parts().tool}
        data-entry={props.entry}
        aria-roledescription="draggable tool"
        aria-pressed={isHeld() ? true : undefined}
        onClick={() => props.onArgument?.()}
        onKeyDown={(event) => {
          if (event.key === "Delete" || event.key === "Backspace") {
            if (props.spot !== "palette") props.onMove("palette");
            return;
          }
          props.drag.onKeyDown(event, props.carried, props.entry);
        }}
      >
        <Unseen text={parts().tool} />
        <Show when={parts().argument}>
          {(argument) => (
            <span class={s.argument}>
              (<Unseen text={argument()} />)
            </span>
          )}
        </Show>
        <Show when={props.implied === "rest"}>
          <span class={s.rest}> other calls</span>
        </Show>
      </button>
      <span data-still>
        <Menu label={`Actions for ${props.entry}${props.spot === "palette" ? "" : ` in ${BIN_WORD[props.spot]}`}`} class={s.menu} entries={entries()}>
          <Icon name="down" size={10} />
        </Menu>
      </span>
    </span>
  );
}
