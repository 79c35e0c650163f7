// What a review needs around the regions: the radar, dragging, and the dialogs in which changes come home or are compared.

import type { JSX } from "solid-js";
import { useApp } from "../app/context";
import { Ghost } from "../parts/Ghost";
import type { SessionStore } from "../session/store";
import { CompareDialog } from "./Compare";
import { DragContext, FRAMES, createDragging } from "./drags";
import { MergeDialog } from "./MergeDialog";
import { RadarContext, createRadar } from "./radar";

export function ReviewAround(props: { session: SessionStore; children: JSX.Element }): JSX.Element {
  const app = useApp();
  const radar = createRadar(app.bridge, props.session);
  const dragging = createDragging(app, props.session);
  return (
    <RadarContext.Provider value={radar}>
      <DragContext.Provider value={dragging}>
        {props.children}
        <MergeDialog session={props.session} />
        <CompareDialog session={props.session} />
        <Ghost drag={dragging.state()} frames={FRAMES} />
      </DragContext.Provider>
    </RadarContext.Provider>
  );
}
