// Asks once more before something that costs.

import { Show, type JSX } from "solid-js";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import s from "./Confirm.module.css";

export interface Asked {
  question: string;
  /** The word on the button that goes on. */
  answer: string;
  reply: (yes: boolean) => void;
}

export function Confirm(props: { asked: Asked | undefined }): JSX.Element {
  return (
    <Dialog open={props.asked !== undefined} onClose={() => props.asked?.reply(false)} title="Change the model?">
      <Show when={props.asked}>
        {(asked) => (
          <div class={s.question}>
            <p>{asked().question}</p>
            <div class={s.answers}>
              <Button kind="quiet" onClick={() => asked().reply(false)}>
                Cancel
              </Button>
              <Button kind="primary" onClick={() => asked().reply(true)}>
                {asked().answer}
              </Button>
            </div>
          </div>
        )}
      </Show>
    </Dialog>
  );
}
