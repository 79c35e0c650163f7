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
  PriceList,
  Rejected,
  RoleBoard,
  RoleChange,
  RoleCopy,
  RoleFile,
  RolePreview,
  RoleRule,
  RoleSave,
  RoleSource,
  RoleSummary,
  RoleTrashId,
  RoleUse,
  RoleWarning,
  SessionId,
  SessionSummary,
  Snapshot,
  TrustQuestion,
} from "./protocol.gen";

/** What the program says about itself when the window opens. */
export interface Startup {
  version: string;
  /** Absolute path of the project given on the command line or opened last. */
  project: string | null;
  /** Whether the scripted demo model answers instead of a real one. */
  demo: boolean;
  model: string;
  provider: Provider;
  dataDir: string;
  /** Where the key is; `null`: there is none. */
  key?: KeyPlace | null;
  /** Whether the model's server is on this computer. */
  local?: boolean;
}

export type Provider = "anthropic" | "openai" | "openai-responses" | "demo";

export type KeyPlace = "environment" | "keychain" | "file";

export interface ListedModel {
  id: string;
  name?: string;
}

/** A model server that was found on this computer. */
export interface LocalServer {
  name: string;
  baseUrl: string;
  models: ListedModel[];
}

/** What is set about the model, and what could be. */
export interface ModelSetup {
  provider: Provider;
  model: string;
  baseUrl: string | null;
  /** Variables of the environment that count more. */
  overriding: string[];
  keys: { account: string; place: KeyPlace | null }[];
  settingsFile: string;
  keyFile: string;
  /** `null`: it can be used. */
  keychainProblem: string | null;
  local: LocalServer[];
}

/** Blank texts: the usual ones, and the key that there is. */
export interface ModelWish {
  provider: Provider;
  baseUrl: string;
  model: string;
  key: string;
}

export interface ModelTried {
  model: string;
  text: string;
  milliseconds: number;
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
  /** What models cost; read anew each time. */
  prices(): Promise<PriceList>;
  sessions(): Promise<SessionSummary[]>;
  createSession(project: string): Promise<SessionId>;
  deleteSession(session: SessionId): Promise<void>;
  /** To a file that the person names; answers its path, or `null` when they changed their mind. */
  exportSession(session: SessionId): Promise<string | null>;
  /** From a file that the person chooses, into the project. */
  importSession(project: string): Promise<SessionId | null>;
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
  /** Files in the agent's folder that a few letters name, best first. */
  files(session: SessionId, agent: AgentId, letters: string): Promise<string[]>;
  blob(hash: BlobHash): Promise<string>;
  roles(project: string): Promise<Roles>;
  roleBoard(project: string): Promise<RoleBoard>;
  roleFile(project: string, path: string): Promise<RoleFile>;
  /** `base`: the file's text now; `null` for a new file. Nothing is written. */
  rolePreview(project: string, base: string | null, change: RoleChange): Promise<RolePreview>;
  /** `fingerprint`: of the file that the change started from. */
  roleSave(project: string, path: string, fingerprint: string, text: string): Promise<RoleSave>;
  roleCreate(project: string, to: RoleSource, text: string): Promise<RoleFile>;
  roleCopy(project: string, path: string, to: RoleSource, moves: boolean): Promise<RoleCopy>;
  roleDelete(project: string, path: string): Promise<RoleTrashId>;
  /** Answers the path of what came back. */
  roleRestore(project: string, trashed: RoleTrashId): Promise<string>;
  roleRule(project: string, entry: string): Promise<RoleRule>;
  /** The agents that had a role, the newest first. */
  roleUses(project: string, role: string): Promise<RoleUse[]>;
  modelSetup(): Promise<ModelSetup>;
  modelList(wish: ModelWish): Promise<ListedModel[]>;
  /** Really asks for a word. */
  modelTest(wish: ModelWish): Promise<ModelTried>;
  /** Writes the settings, and the key into `place`. Answers as `startup` does. */
  modelSave(wish: ModelWish, place: KeyPlace): Promise<Startup>;
  keyDelete(provider: Provider): Promise<Startup>;
  /** What the folder's own files would ask for, and whether they count. */
  trust(project: string): Promise<TrustQuestion>;
  /** Counts for sessions that begin or are opened from now on. */
  setTrust(project: string, trusted: boolean): Promise<void>;
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
    prices: () => invoke("prices"),
    sessions: () => invoke("sessions"),
    createSession: (project) => invoke("create_session", { project }),
    deleteSession: (session) => invoke("delete_session", { session }),
    exportSession: (session) => invoke("export_session", { session }),
    importSession: (project) => invoke("import_session", { project }),
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
    files: (session, agent, letters) => invoke("files", { session, agent, letters }),
    blob: (hash) => invoke("blob", { hash }),
    roles: (project) => invoke("roles", { project }),
    roleBoard: (project) => invoke("role_board", { project }),
    roleFile: (project, path) => invoke("role_file", { project, path }),
    rolePreview: (project, base, change) => invoke("role_preview", { project, base, change }),
    roleSave: (project, path, fingerprint, text) => invoke("role_save", { project, path, fingerprint, text }),
    roleCreate: (project, to, text) => invoke("role_create", { project, to, text }),
    roleCopy: (project, path, to, moves) => invoke("role_copy", { project, path, to, moves }),
    roleDelete: (project, path) => invoke("role_delete", { project, path }),
    roleRestore: (project, trashed) => invoke("role_restore", { project, trashed }),
    roleRule: (project, entry) => invoke("role_rule", { project, entry }),
    roleUses: (project, role) => invoke("role_uses", { project, role }),
    modelSetup: () => invoke("model_setup"),
    modelList: (wish) => invoke("model_list", { wish }),
    modelTest: (wish) => invoke("model_test", { wish }),
    modelSave: (wish, place) => invoke("model_save", { wish, place }),
    keyDelete: (provider) => invoke("key_delete", { provider }),
    trust: (project) => invoke("trust", { project }),
    setTrust: (project, trusted) => invoke("set_trust", { project, trusted }),
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
