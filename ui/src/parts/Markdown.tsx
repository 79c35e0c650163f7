// Markdown in the page. Finished blocks are rendered once; while a text streams only its last block changes.

import { Index, createMemo, type JSX } from "solid-js";
import { renderBlock, splitBlocks } from "./render";
import "./markdown.css";

export function Markdown(props: { text: string; streaming?: boolean }): JSX.Element {
  const blocks = createMemo(() => splitBlocks(props.text));
  return (
    <div class="md selectable" classList={{ "md-live": props.streaming === true }}>
      <Index each={blocks()}>{(block) => <Block source={block()} />}</Index>
    </div>
  );
}

function Block(props: { source: string }): JSX.Element {
  // `renderBlock` sanitises: this is the one place of the window that sets HTML.
  return <div class="md-block" dir="auto" innerHTML={renderBlock(props.source)} />;
}
