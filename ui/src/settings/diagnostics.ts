// What helps to find out what is wrong, as text to be copied: versions and figures. No keys, no addresses, nothing that
// was said, and folders only in so far as they aren't a person's. Pure.

import type { Startup } from "../bridge";
import type { SessionState } from "../session/fold";

export function diagnostics(about: Startup, session: SessionState | undefined, page: { agent: string; size: string; zoom: number; theme: string }): string {
  const lines = [
    `Offshoot ${about.version}`,
    `Model: ${about.demo ? "demo" : `${about.provider}, ${about.model}`}${about.local ? ", on this computer" : ""}`,
    `Key: ${about.key ?? "none"}`,
    `Web view: ${page.agent}`,
    `Window: ${page.size}, ${page.zoom} %, ${page.theme}`,
  ];
  if (session) {
    const agents = Object.values(session.agents);
    const states = new Map<string, number>();
    for (const agent of agents) states.set(agent.state.kind, (states.get(agent.state.kind) ?? 0) + 1);
    const sum = (figure: (agent: (typeof agents)[number]) => number) => agents.reduce((all, agent) => all + figure(agent), 0);
    lines.push(
      `Session: ${session.cursor} events, ${sum((agent) => agent.messages)} messages, mode ${session.mode}`,
      `Agents: ${agents.length} (${[...states].map(([state, count]) => `${count} ${state}`).join(", ")})`,
      `Requests: ${session.requests.length}, warnings: ${sum((agent) => agent.warnings.length)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}
