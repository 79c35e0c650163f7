// Hands the store to every view below.

import { createContext, useContext } from "solid-js";
import type { SessionStore } from "../session/store";
import type { AppStore } from "../store";

export const AppContext = createContext<AppStore>();

export function useApp(): AppStore {
  const app = useContext(AppContext);
  if (!app) throw new Error("A view stands outside of the app");
  return app;
}

export const SessionContext = createContext<SessionStore>();

/** The open session. Only below `SessionContext`. */
export function useSession(): SessionStore {
  const session = useContext(SessionContext);
  if (!session) throw new Error("A view stands outside of a session");
  return session;
}
