// The boundary to the core. This is the one file that imports Tauri; everything else sees the `Bridge` interface.

import { Channel, invoke } from "@tauri-apps/api/core";
import type {
  AgentId,
  Batch,
  BlobHash,
  ChangeSummary,
  Clash,
  Command,
  Conversation,
  FileDiff,
  MergeDone,
  MergeId,
  MergePreview,
  MergeSelection,
  Rejected,
  RoleSummary,
  RoleWarning,
  SessionId,
  SessionSummary,
  Snapshot,
} from "./protocol.gen";

/** What the program says about itself when the window opens. */
export interface Startup {
  version: string;
  /** Absolute path of the project given on the command line or opened last. */
  project: string | null;
  /** Whether the scripted demo model answers instead of a real one. */
  demo: boolean;
  model: string;
  provider: string;
  dataDir: string;
}

export interface Roles {
  roles: RoleSummary[];
  warnings: RoleWarning[];
}

/** Every method rejects with a `Rejected`, see `asRejected`. */
export interface Bridge {
  startup(): Promise<Startup>;
  /** Asks for a folder; `null` when the person changed their mind. */
  pickFolder(): Promise<string | null>;
  /** Answers its absolute path, which sessions are told apart by. */
  openProject(path: string): Promise<string>;
  /** Makes the sample repository and answers its path. */
  openDemo(): Promise<string>;
  sessions(): Promise<SessionSummary[]>;
  createSession(project: string): Promise<SessionId>;
  deleteSession(session: SessionId): Promise<void>;
  snapshot(session: SessionId): Promise<Snapshot>;
  /** The last `limit` messages before the place `before`; `null`: up to the end. */
  conversation(session: SessionId, agent: AgentId, before: number | null, limit: number): Promise<Conversation>;
  /** Everything after `cursor`, without a gap. Answers how to end it. */
  subscribe(session: SessionId, cursor: number, onBatch: (batch: Batch) => void): Promise<() => void>;
  command(session: SessionId, command: Command): Promise<void>;
  changes(session: SessionId, agent: AgentId): Promise<ChangeSummary>;
  /** `whole`: also when the file is larger than the budget. */
  fileDiff(session: SessionId, agent: AgentId, path: string, whole: boolean): Promise<FileDiff>;
  /** What bringing these agents' changes home would do. */
  mergePreview(session: SessionId, agents: AgentId[], selection: MergeSelection): Promise<MergePreview>;
  /** Does what a preview said. `leaveOut`: without the files in conflict, instead of not at all. */
  mergeApply(session: SessionId, merge: MergeId, leaveOut: boolean): Promise<MergeDone>;
  mergeUndo(session: SessionId, merge: MergeId): Promise<void>;
  /** Which worktrees can't be brought home together. */
  conflicts(session: SessionId): Promise<Clash[]>;
  blob(hash: BlobHash): Promise<string>;
  roles(project: string): Promise<Roles>;
  openExternal(url: string): Promise<void>;
}

/** Whether the page runs inside the program's window. */
export function isInWindow(): boolean {
  return "__TAURI_INTERNALS__" in window;
}

/** The bridge to the program behind this window. */
export function windowBridge(): Bridge {
  return {
    startup: () => invoke("startup"),
    pickFolder: () => invoke("pick_folder"),
    openProject: (path) => invoke("open_project", { path }),
    openDemo: () => invoke("open_demo"),
    sessions: () => invoke("sessions"),
    createSession: (project) => invoke("create_session", { project }),
    deleteSession: (session) => invoke("delete_session", { session }),
    snapshot: (session) => invoke("snapshot", { session }),
    conversation: (session, agent, before, limit) => invoke("conversation", { session, agent, before, limit }),
    subscribe: async (session, cursor, onBatch) => {
      const channel = new Channel<Batch>();
      let ended = false;
      channel.onmessage = (batch) => {
        if (!ended) onBatch(batch);
      };
      await invoke("subscribe", { session, cursor, onBatch: channel });
      return () => {
        // The core notices at the next send that nobody listens: dropping what arrives is all there is to do here.
        ended = true;
      };
    },
    command: (session, command) => invoke("command", { session, command }),
    changes: (session, agent) => invoke("changes", { session, agent }),
    fileDiff: (session, agent, path, whole) => invoke("file_diff", { session, agent, path, whole }),
    mergePreview: (session, agents, selection) => invoke("merge_preview", { session, agents, selection }),
    mergeApply: (session, merge, leaveOut) => invoke("merge_apply", { session, merge, leaveOut }),
    mergeUndo: (session, merge) => invoke("merge_undo", { session, merge }),
    conflicts: (session) => invoke("conflicts", { session }),
    blob: (hash) => invoke("blob", { hash }),
    roles: (project) => invoke("roles", { project }),
    openExternal: (url) => invoke("open_external", { url }),
  };
}

/** What a rejected call says, whatever it was rejected with. */
export function asRejected(error: unknown): Rejected {
  // Solid wraps what a resource was rejected with, unless it is an error itself.
  if (error instanceof Error && typeof error.cause === "object" && error.cause !== null) return asRejected(error.cause);
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
    const hint = "hint" in error && typeof error.hint === "string" ? error.hint : "";
    const code = "code" in error && typeof error.code === "string" ? (error.code as Rejected["code"]) : "failed";
    return { code, message: error.message, hint };
  }
  return { code: "failed", message: String(error), hint: "" };
}
