// The window's icons: 16 × 16, drawn with one line width, coloured by their surroundings.

import type { JSX } from "solid-js";

const PATHS = {
  root: "M8 13.5V7M8 7a3 3 0 0 1 3-3h1.5v.5A3 3 0 0 1 9.5 7.5H8M8 9.5A2.5 2.5 0 0 0 5.5 7H3.500v.3A2.5 2.5 0 0 0 6 9.800h2",
  fork: "M4.5 3v10M4.5 9.500c0-3 7-1.5 7-4.5M11.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  subagent: "M8 2.5 13.5 8 8 13.5 2.5 8Z",
  teammate: "M5.700 7.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM2 12.500c.3-2 1.700-3.200 3.700-3.200s3.400 1.200 3.700 3.200M10.5 7.300a1.700 1.700 0 1 0 0-3.400M11.300 9.400c1.5.2 2.400 1.300 2.700 3.1",
  queued: "M8 13.500a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Z",
  waiting: "M8 3v6M8 12.500v.1",
  hourglass: "M5 2.500h6M5 13.500h6M5.5 2.500c0 4 5 4 5 5.500s-5 1.5-5 5.5M10.5 2.500c0 4-5 4-5 5.500s5 1.5 5 5.5",
  idle: "M5.5 8h5",
  done: "m3.5 8.5 3 3 6-7",
  failed: "m4.5 4.5 7 7M11.5 4.500l-7 7",
  stopped: "M4.5 4.500h7v7h-7Z",
  interrupted: "M5.5 4v8M10.5 4v8",
  chevron: "m6 4 4 4-4 4",
  down: "m4 6 4 4 4-4",
  plus: "M8 3.500v9M3.5 8h9",
  close: "m4.5 4.5 7 7M11.5 4.500l-7 7",
  search: "M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.300 10.300l3.200 3.200",
  menu: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  sidebar: "M2.5 3.500h11v9h-11ZM6 3.500v9",
  inspector: "M2.5 3.500h11v9h-11ZM10 3.500v9",
  settings: "M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.200 6.700a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400ZM5.800 12.700a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400Z",
  folder: "M2.5 12.500v-9h4l1.5 2h5.500v7Z",
  send: "M8 13V3.5M4 7l4-4 4 4",
  file: "M4 2.500h5l3 3v8H4ZM9 2.500v3h3",
  read: "M2.5 4C4.5 3 6.5 3 8 4.5 9.5 3 11.5 3 13.5 4v8.5C11.5 11.5 9.5 11.5 8 13c-1.5-1.5-3.5-1.5-5.5-.5ZM8 4.5V13",
  edit: "m3 13 .6-2.800 7.200-7.200 2.200 2.200-7.200 7.200ZM9.5 4.300l2.200 2.200",
  command: "m3 5 3 3-3 3M8 11.500h5",
  message: "M2.5 3.500h11v7.5H7l-3 2.5V11H2.5Z",
  plan: "m2.5 4.5 1 1 1.800-2M2.5 10.500l1 1 1.800-2M7.5 4.500h6M7.5 11h6",
  tool: "M9.5 3.500a3 3 0 0 0 .3 3.700L4 13l-1-1 5.800-5.800M9.5 3.500l1.700 1.700 1.300-.3.400-1.200a3 3 0 0 1-3.1 3.5",
  thinking: "M8 2.500a4 4 0 0 0-2.300 7.300V11.500h4.600V9.800A4 4 0 0 0 8 2.5ZM6.300 13.500h3.400",
  bell: "M4 11V7.500a4 4 0 0 1 8 0V11l1 1.200H3ZM6.800 14h2.400",
  external: "M9 2.500h4.5V7M13.5 2.5 7.5 8.5M11.5 9v4h-9v-9h4",
  copy: "M5.5 5.500h8v8h-8ZM3.5 10.500h-1v-8h8v1",
  tree: "M4 3v8.500h3M4 6h3M9 4.500h4v3H9ZM9 10h4v3H9Z",
  alert: "M8 2.5 14 13H2ZM8 6.500v3M8 11.300v.1",
  play: "M5 3.5 12 8l-7 4.5Z",
  shield: "M8 2.5 13 4v4c0 3-2 4.700-5 5.5C5 12.700 3 11 3 8V4Z",
  keyboard: "M1.5 4.500h13v7h-13ZM4 7h.1M6.700 7h.1M9.300 7h.1M12 7h.1M5 9.500h6",
  branch: "M5 5.500v5M5 5.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5 13.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11 6.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11 6.500c0 2.5-6 1.5-6 4",
  image: "M2.5 3.500h11v9h-11ZM2.5 11l3.5-3.5 2.5 2.5L11 8l2.5 2.5M10.300 6.300h.1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName; size?: number; class?: string | undefined }): JSX.Element {
  return (
    <svg
      class={props.class}
      width={props.size ?? 16}
      height={props.size ?? 16}
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
