// The window's icons: 16 × 16, drawn with one line width, coloured by their surroundings.

import type { JSX } from "solid-js";

const PATHS = {
  root: "M8 13.5V7M8 7a3 3 0 0 1 3-3h1.5v.5A3 3 0 0 1 9.5 7.5H8M8 9.5A2.5 2.5 0 0 0 5.5 7H3.5v.3A2.5 2.5 0 0 0 6 9.8h2",
  fork: "M4.5 3v10M4.5 9.5c0-3 7-1.5 7-4.5M11.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  subagent: "M8 2.5 13.5 8 8 13.5 2.5 8Z",
  teammate: "M5.7 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM2 12.5c.3-2 1.7-3.2 3.7-3.2s3.4 1.2 3.7 3.2M10.5 7.3a1.7 1.7 0 1 0 0-3.4M11.3 9.4c1.5.2 2.4 1.3 2.7 3.1",
  queued: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z",
  waiting: "M8 3v6M8 12.5v.1",
  hourglass: "M5 2.5h6M5 13.5h6M5.5 2.5c0 4 5 4 5 5.5s-5 1.5-5 5.5M10.5 2.5c0 4-5 4-5 5.5s5 1.5 5 5.5",
  idle: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  done: "m3.5 8.5 3 3 6-7",
  failed: "m4.5 4.5 7 7M11.5 4.5l-7 7",
  stopped: "M4.5 4.5h7v7h-7Z",
  interrupted: "M5.5 4v8M10.5 4v8",
  chevron: "m6 4 4 4-4 4",
  down: "m4 6 4 4 4-4",
  up: "m4 10 4-4 4 4",
  plus: "M8 3.5v9M3.5 8h9",
  close: "m4.5 4.5 7 7M11.5 4.5l-7 7",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2",
  menu: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  sidebar: "M2.5 3.5h11v9h-11ZM6 3.5v9",
  inspector: "M2.5 3.5h11v9h-11ZM10 3.5v9",
  settings: "M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.2 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM5.8 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z",
  folder: "M2.5 12.5v-9h4l1.5 2h5.5v7Z",
  send: "M8 13V3.5M4 7l4-4 4 4",
  file: "M4 2.5h5l3 3v8H4ZM9 2.5v3h3",
  read: "M2.5 4C4.5 3 6.5 3 8 4.5 9.5 3 11.5 3 13.5 4v8.5C11.5 11.5 9.5 11.5 8 13c-1.5-1.5-3.5-1.5-5.5-.5ZM8 4.5V13",
  edit: "m3 13 .6-2.8 7.2-7.2 2.2 2.2-7.2 7.2ZM9.5 4.3l2.2 2.2",
  command: "m3 5 3 3-3 3M8 11.5h5",
  message: "M2.5 3.5h11v7.5H7l-3 2.5V11H2.5Z",
  plan: "m2.5 4.5 1 1 1.8-2M2.5 10.5l1 1 1.8-2M7.5 4.5h6M7.5 11h6",
  tool: "M9.5 3.5a3 3 0 0 0 .3 3.7L4 13l-1-1 5.8-5.8M9.5 3.5l1.7 1.7 1.3-.3.4-1.2a3 3 0 0 1-3.1 3.5",
  commit: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM2 8h3.5M10.5 8H14",
  globe: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM2.5 8h11M8 2.5c-3 3-3 8 0 11M8 2.5c3 3 3 8 0 11",
  thinking: "M8 2.5a4 4 0 0 0-2.3 7.3V11.5h4.6V9.8A4 4 0 0 0 8 2.5ZM6.3 13.5h3.4",
  bell: "M4 11V7.5a4 4 0 0 1 8 0V11l1 1.2H3ZM6.8 14h2.4",
  external: "M9 2.5h4.5V7M13.5 2.5 7.5 8.5M11.5 9v4h-9v-9h4",
  copy: "M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1",
  tree: "M4 3v8.5h3M4 6h3M9 4.5h4v3H9ZM9 10h4v3H9Z",
  alert: "M8 2.5 14 13H2ZM8 6.5v3M8 11.3v.1",
  play: "M5 3.5 12 8l-7 4.5Z",
  shield: "M8 2.5 13 4v4c0 3-2 4.7-5 5.5C5 12.7 3 11 3 8V4Z",
  keyboard: "M1.5 4.5h13v7h-13ZM4 7h.1M6.7 7h.1M9.3 7h.1M12 7h.1M5 9.5h6",
  branch: "M5 5.5v5M5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11 6.5c0 2.5-6 1.5-6 4",
  image: "M2.5 3.5h11v9h-11ZM2.5 11l3.5-3.5 2.5 2.5L11 8l2.5 2.5M10.3 6.3h.1",
  grip: "M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1",
  undo: "M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6",
  redo: "m10.5 3 3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h4",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5M6.7 7v3.5M9.3 7v3.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName; size?: number; class?: string | undefined }): JSX.Element {
  return (
    <svg
      class={props.class}
      width={`${(props.size ?? 16) / 16}rem`}
      height={`${(props.size ?? 16) / 16}rem`}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[props.name]} />
    </svg>
  );
}
