// An image before and now: beside each other, or one over the other with a slider between them.

import { Match, Show, Switch, createResource, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Button } from "../parts/Button";
import { bytes } from "../parts/time";
import type { ChangedFile, DiffSide } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import s from "./Images.module.css";

const TYPES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  // Drawn as an image, it runs nothing and loads nothing.
  svg: "image/svg+xml",
};

interface Picture {
  url: string;
  size: number;
}

export function Images(props: { session: SessionStore; agent: string; file: ChangedFile }): JSX.Element {
  const app = useApp();
  const [isOverlaid, setOverlaid] = createSignal(false);
  const [share, setShare] = createSignal(50);
  const read = async (side: DiffSide): Promise<Picture | undefined> => {
    const content = await app.bridge.fileContent(props.session.id, props.agent, props.file.path, side);
    if (content.byteLength === 0) return undefined;
    const extension = props.file.path.slice(props.file.path.lastIndexOf(".") + 1).toLowerCase();
    const url = await dataUrl(new Blob([content], { type: TYPES[extension] ?? "application/octet-stream" }));
    return { url, size: content.byteLength };
  };
  const [both] = createResource(
    () => `${props.agent}:${props.file.path}:${props.file.hash}`,
    async () => ({ old: await read("base"), now: await read("now") }),
  );
  return (
    <Switch fallback={<p class={s.note}>Reading the image…</p>}>
      <Match when={both.state === "errored"}>
        <p class={s.note} role="alert">
          {asRejected(both.error).message}
        </p>
      </Match>
      <Match when={both.latest}>
        {(pictures) => (
          <div class={s.images}>
            <Show when={!pictures().old && !pictures().now}>
              <p class={s.note}>This image is empty.</p>
            </Show>
            <Show when={pictures().old && pictures().now}>
              <div class={s.bar}>
                <Button kind="quiet" small aria-pressed={!isOverlaid()} onClick={() => setOverlaid(false)}>
                  Side by side
                </Button>
                <Button kind="quiet" small aria-pressed={isOverlaid()} onClick={() => setOverlaid(true)}>
                  Overlaid
                </Button>
                <Show when={isOverlaid()}>
                  <input
                    type="range"
                    min={0}
                    max={100}
                    value={share()}
                    aria-label="How much of the new image is shown"
                    onInput={(event) => setShare(event.currentTarget.valueAsNumber)}
                  />
                </Show>
              </div>
            </Show>
            <Show
              when={isOverlaid() && pictures().old && pictures().now}
              fallback={
                <div class={s.beside}>
                  <Side label="Before" picture={pictures().old} />
                  <Side label="Now" picture={pictures().now} />
                </div>
              }
            >
              <div class={s.over}>
                <img src={pictures().old?.url} alt="Before" />
                <img src={pictures().now?.url} alt="Now" style={{ "clip-path": `inset(0 ${100 - share()}% 0 0)` }} />
              </div>
            </Show>
          </div>
        )}
      </Match>
    </Switch>
  );
}

/** The page may load images from itself and from such addresses only. */
function dataUrl(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("The image could not be read."));
    reader.readAsDataURL(content);
  });
}

function Side(props: { label: string; picture: Picture | undefined }): JSX.Element {
  const [size, setSize] = createSignal("");
  return (
    <Show when={props.picture}>
      {(picture) => (
        <figure class={s.side}>
          <figcaption>
            {props.label}
            <span>
              {size()} {bytes(picture().size)}
            </span>
          </figcaption>
          <img
            src={picture().url}
            alt={props.label}
            onLoad={(event) => setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight}`)}
          />
        </figure>
      )}
    </Show>
  );
}
