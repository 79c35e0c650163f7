// Markdown in the page. Finished blocks are rendered once; while a text streams only its last block changes, and a long
// code block that is still open only gets longer.

import { Index, Show, createMemo, type JSX } from "solid-js";
import { openFence, renderBlock, splitBlocks } from "./render";
import "./markdown.css";

/** From how many characters on an open code block isn't parsed and coloured with every piece. */
const LONG = 2000;

export function Markdown(props: { text: string; streaming?: boolean }): JSX.Element {
  const blocks = createMemo(() => splitBlocks(props.text));
  return (
    <div class="md selectable" classList={{ "md-live": props.streaming === true }}>
      <Index each={blocks()}>{(block, at) => <Block source={block()} isOpen={props.streaming === true && at === blocks().length - 1} />}</Index>
    </div>
  );
}

function Block(props: { source: string; isOpen: boolean }): JSX.Element {
  const growing = createMemo(() => (props.isOpen && props.source.length > LONG ? openFence(props.source) : undefined));
  return (
    <Show
      when={growing() !== undefined}
      fallback={
        // `renderBlock` sanitises: this is the one place of the window that sets HTML.
        <div class="md-block" dir="auto" innerHTML={renderBlock(props.source)} />
      }
    >
      <div class="md-block">
        <pre class="md-code" tabindex={0}>
          <code>{growing()}</code>
        </pre>
      </div>
    </Show>
  );
}
