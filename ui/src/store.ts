// What is open in the window: project, sessions, the live session and which agent is looked at. It sends wishes through
// the bridge; what they lead to arrives as events.

import { batch, createSignal, type Accessor } from "solid-js";
import { createPrefs, readText, write, type Prefs } from "./app/prefs";
import { asRejected, type Bridge, type Startup } from "./bridge";
import type { AgentId, AgentView, Command, PriceList, Rejected, SessionId, SessionSummary, TrustQuestion } from "./protocol.gen";
import { createStudio, type Studio } from "./roles/studio";
import { openSession as openSessionStore, type SessionStore } from "./session/store";

export type InspectorTab = "review" | "requests" | "tasks" | "costs";
export type Sheet = "palette" | "help" | "settings" | "roles" | undefined;

/** Something that went wrong, until it is dismissed. */
export interface Notice {
  id: number;
  problem: Rejected;
}

/** A fork that the composer prepares: how many messages it inherits. */
export interface ForkPoint {
  agent: AgentId;
  messages: number;
}

/** The question whether a folder is trusted, until it is answered. */
export interface TrustAsked {
  question: TrustQuestion;
  /** Absent: not now; it will be asked again. */
  answer: (trusted: boolean | undefined) => void;
}

/** A text that something else in the window puts into the composer. */
export interface Proposal {
  text: string;
  /** Whether it is sent at once; else it stands there to be changed. */
  send: boolean;
}

export interface AppStore {
  readonly bridge: Bridge;
  readonly prefs: Prefs;
  readonly studio: Studio;
  startup: Accessor<Startup | undefined>;
  /** After the model was changed. */
  setStartup(about: Startup): void;
  project: Accessor<string | null>;
  sessions: Accessor<SessionSummary[]>;
  session: Accessor<SessionStore | undefined>;
  selected: Accessor<AgentId | undefined>;
  agent: Accessor<AgentView | undefined>;
  /** In words what takes long right now. */
  busy: Accessor<string | undefined>;
  problem: Accessor<Rejected | undefined>;
  notices: Accessor<Notice[]>;
  tab: Accessor<InspectorTab>;
  /** What models cost; absent until it was asked for. */
  prices: Accessor<PriceList | undefined>;
  sheet: Accessor<Sheet>;
  link: Accessor<string | undefined>;
  /** The session that gets another title. */
  renaming: Accessor<Pick<SessionSummary, "id" | "title"> | undefined>;
  trustAsked: Accessor<TrustAsked | undefined>;
  forkPoint: Accessor<ForkPoint | undefined>;
  /** The text that the composer shall take, until it has taken it. */
  proposal: Accessor<Proposal | undefined>;
  setTab(tab: InspectorTab): void;
  /** Asks again what models cost: the person can change it. */
  loadPrices(): Promise<void>;
  setSheet(sheet: Sheet): void;
  /** Asks before a link opens outside of the window. */
  askLink(url: string | undefined): void;
  /** Asks for another title; without a session for none. */
  askRename(session: Pick<SessionSummary, "id" | "title"> | undefined): void;
  renameSession(id: SessionId, title: string): Promise<boolean>;
  setForkPoint(point: ForkPoint | undefined): void;
  /** Asks again whether the open folder is trusted, whatever was said before. */
  reviewTrust(): Promise<void>;
  propose(proposal: Proposal | undefined): void;
  start(): Promise<void>;
  pickFolder(): Promise<void>;
  openDemo(): Promise<void>;
  newSession(): Promise<void>;
  openSession(id: SessionId): Promise<void>;
  deleteSession(id: SessionId): Promise<void>;
  exportSession(id: SessionId): Promise<void>;
  importSession(): Promise<void>;
  select(agent: AgentId): void;
  showRequests(): void;
  /** Sends a wish to the open session; a rejection becomes a notice. Answers whether it was accepted. */
  send(command: Command): Promise<boolean>;
  report(error: unknown): void;
  dismiss(notice: number): void;
}

export function createApp(bridge: Bridge): AppStore {
  const prefs = createPrefs();
  const [startup, setStartup] = createSignal<Startup>();
  const [project, setProject] = createSignal<string | null>(null);
  const [sessions, setSessions] = createSignal<SessionSummary[]>([]);
  const [session, setSession] = createSignal<SessionStore>();
  const [selected, setSelected] = createSignal<AgentId>();
  const [busy, setBusy] = createSignal<string | undefined>("Starting");
  const [problem, setProblem] = createSignal<Rejected>();
  const [notices, setNotices] = createSignal<Notice[]>([]);
  const [tab, setTab] = createSignal<InspectorTab>("review");
  const [prices, setPrices] = createSignal<PriceList>();
  const [sheet, setSheet] = createSignal<Sheet>();
  const [link, setLink] = createSignal<string>();
  const [renaming, askRename] = createSignal<Pick<SessionSummary, "id" | "title">>();
  const [trustAsked, setTrustAsked] = createSignal<TrustAsked>();
  const [forkPoint, setForkPoint] = createSignal<ForkPoint>();
  const studio = createStudio({ bridge, project, report });
  const [proposal, setProposal] = createSignal<Proposal>();
  let noticeCount = 0;

  function report(error: unknown): void {
    noticeCount += 1;
    const notice = { id: noticeCount, problem: asRejected(error) };
    setNotices((before) => [...before.slice(-3), notice]);
  }

  async function loadPrices(): Promise<void> {
    try {
      setPrices(await bridge.prices());
    } catch (error) {
      report(error);
    }
  }

  /** Runs something long: says so, and where it fails, says that. */
  async function during(words: string, work: () => Promise<void>): Promise<void> {
    setBusy(words);
    try {
      await work();
    } catch (error) {
      if (session()) report(error);
      else setProblem(asRejected(error));
    } finally {
      setBusy(undefined);
    }
  }

  async function listSessions(): Promise<SessionSummary[]> {
    const all = await bridge.sessions();
    const here = all
      .filter((summary) => summary.project === project())
      .sort((a, b) => b.updated_at.localeCompare(a.updated_at));
    setSessions(here);
    return here;
  }

  /** Asks before anything of the folder counts; without an answer nothing does. */
  async function askTrust(path: string, question: TrustQuestion): Promise<void> {
    const trusted = await new Promise<boolean | undefined>((answer) => setTrustAsked({ question, answer }));
    setTrustAsked(undefined);
    if (trusted !== undefined) await bridge.setTrust(path, trusted);
  }

  async function settleTrust(path: string): Promise<void> {
    try {
      const question = await bridge.trust(path);
      if (question.trust === "unknown" && question.would_activate.length > 0) await askTrust(path, question);
    } catch (error) {
      // It stays untrusted; that is no reason not to open it.
      report(error);
    }
  }

  async function enter(path: string): Promise<void> {
    setProblem(undefined);
    await settleTrust(path);
    if (path !== project()) closeSession();
    setProject(path);
    const known = await listSessions();
    const last = readText(`session.${path}`);
    const next = known.find((summary) => summary.id === last) ?? known[0];
    if (next) await open(next.id);
    else await create();
  }

  async function create(): Promise<void> {
    const path = project();
    if (path === null) return;
    const id = await bridge.createSession(path);
    await listSessions();
    await open(id);
  }

  async function open(id: SessionId): Promise<void> {
    if (session()?.id === id) return;
    const opened = await openSessionStore(bridge, id);
    const before = session();
    const remembered = readText(`agent.${id}`);
    batch(() => {
      setSession(opened);
      setSelected(opened.state.agents[remembered] ? remembered : opened.state.order[0]);
      setForkPoint(undefined);
      setTab(opened.state.requests.length > 0 ? "requests" : "review");
    });
    before?.close();
    write(`session.${opened.state.project}`, id);
  }

  function closeSession(): void {
    session()?.close();
    batch(() => {
      setSession(undefined);
      setSelected(undefined);
    });
  }

  function select(agent: AgentId): void {
    const id = session()?.id;
    batch(() => {
      setSelected(agent);
      if (forkPoint()?.agent !== agent) setForkPoint(undefined);
    });
    if (id !== undefined) write(`agent.${id}`, agent);
  }

  return {
    bridge,
    prefs,
    studio,
    startup,
    setStartup,
    project,
    sessions,
    session,
    selected,
    agent: () => {
      const id = selected();
      return id === undefined ? undefined : session()?.state.agents[id];
    },
    busy,
    problem,
    notices,
    tab,
    prices,
    sheet,
    link,
    renaming,
    trustAsked,
    forkPoint,
    proposal,
    setTab,
    loadPrices,
    setSheet(next) {
      // The studio is no sheet: it stays open beside the tree and the composer.
      if (next === "roles") studio.setOpen(true);
      setSheet(next === "roles" ? undefined : next);
    },
    askLink: setLink,
    askRename,
    async renameSession(id, title) {
      try {
        await bridge.command(id, { type: "rename", title });
        await listSessions();
        return true;
      } catch (error) {
        report(error);
        return false;
      }
    },
    setForkPoint,
    async reviewTrust() {
      const path = project();
      if (path === null) return;
      try {
        await askTrust(path, await bridge.trust(path));
      } catch (error) {
        report(error);
      }
    },
    propose: setProposal,
    start: () =>
      during("Starting", async () => {
        const about = await bridge.startup();
        setStartup(about);
        void loadPrices();
        if (about.project !== null) await enter(about.project);
      }),
    pickFolder: async () => {
      const path = await bridge.pickFolder().catch((error: unknown) => {
        report(error);
        return null;
      });
      if (path === null) return;
      await during("Opening the folder", async () => {
        await enter(await bridge.openProject(path));
      });
    },
    openDemo: () => during("Preparing the sample repository", async () => enter(await bridge.openDemo())),
    newSession: () => during("Starting a session", create),
    openSession: (id) => during("Opening the session", () => open(id)),
    deleteSession: (id) =>
      during("Deleting the session", async () => {
        await bridge.deleteSession(id);
        if (session()?.id === id) closeSession();
        const left = await listSessions();
        if (!session()) await (left[0] ? open(left[0].id) : create());
      }),
    exportSession: async (id) => {
      await bridge.exportSession(id).catch(report);
    },
    importSession: async () => {
      const into = project();
      if (into === null) return;
      const id = await bridge.importSession(into).catch((error: unknown) => {
        report(error);
        return null;
      });
      if (id === null) return;
      await during("Opening the session", async () => {
        await listSessions();
        await open(id);
      });
    },
    select,
    showRequests() {
      setTab("requests");
      prefs.setRightOpen(true);
    },
    async send(command) {
      const open = session();
      if (!open) return false;
      try {
        await open.send(command);
        return true;
      } catch (error) {
        report(error);
        return false;
      }
    },
    report,
    dismiss: (id) => setNotices((before) => before.filter((notice) => notice.id !== id)),
  };
}
