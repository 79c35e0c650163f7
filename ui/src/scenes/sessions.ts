// Sessions that are looked at: each shows what is hard to draw.

import type { Recording } from "../bridge.recorded";
import type { AgentCreated } from "../protocol.gen";
import { PROJECT, Play } from "./play";
import { ARABIC, BRANCH, CHINESE, JAPANESE, LONG_OUTPUT, MARKDOWN, ONE_LINE, TERMINAL, UNBROKEN } from "./texts";

/** Nothing was said yet. */
export function empty(): Recording {
  return new Play("").recording();
}

/** Every state that an agent can be in, and every way in which a call ends. */
export function states(): Recording {
  const play = new Play("Make the tide table read its stations lazily")
    .ask("root", "Make the tide table read its stations lazily. Keep the order of rows, and don't touch the chart.")
    .wait(4)
    .answer("root", MARKDOWN, { name: "Read", input: { file_path: `${PROJECT}/src/table.rs` }, result: "fn main() {}" }, { name: "Grep", input: { pattern: "Station::new", path: "src" }, result: "src/station.rs:112: Station::new(values)" })
    .answer(
      "root",
      "First the tests as they are.",
      { name: "Bash", input: { command: "cargo test --workspace", description: "Run all tests" }, result: { content: TERMINAL, is_error: false, duration_ms: 61_200, detail: { kind: "ran", exit: 101, confinement: "confined: writes in the project, no network" } } },
      { name: "Bash", input: { command: "git push --force origin main" }, result: { content: '{"code":"permission_denied","message":"A rule denies Bash(git push *)."}', is_error: true, code: "permission_denied" } },
      { name: "Edit", input: { file_path: `${PROJECT}/src/table.rs`, old_string: "read_to_string", new_string: "read_index" }, result: { content: "edited", detail: { kind: "edited", path: `${PROJECT}/src/table.rs`, diff: "@@ -39,5 +39,6 @@ impl Table {\n     pub fn open(path: &Path) -> Result<Self, Error> {\n-        let text = read_to_string(path)?;\n+        let index = read_index(path)?;\n+        let parsed = index.iter().map(|_| OnceCell::new()).collect();\n         Ok(Self { index, parsed })\n     }\n" } } },
      { name: "Write", input: { file_path: `${PROJECT}/src/missing/x.rs`, content: "x" }, result: { content: '{"code":"not_found","message":"The folder src/missing doesn\'t exist."}', is_error: true, code: "not_found", duration_ms: 3 } },
      { name: "WebFetch", input: { url: "https://example.com/tides" }, result: { content: '{"code":"interrupted","message":"The turn was interrupted before this call ended."}', is_error: true, code: "interrupted", duration_ms: 9000 } },
      { name: "TodoWrite", input: { todos: [{ content: "Read the index first", status: "completed" }, { content: "Parse a station when it is asked for", status: "in_progress" }, { content: "Compare with the golden rows", status: "pending" }] }, result: "noted" },
    )
    .emit("root", { type: "todos_changed", todos: [{ content: "Read the index first", status: "completed" }, { content: "Parse a station when it is asked for", status: "in_progress" }, { content: "Compare with the golden rows", status: "pending" }] });
  const kinds: [string, AgentCreated["kind"], string, Partial<AgentCreated>][] = [
    ["running", "fork", "Lazy parser", { inherited: { from: "root", messages: 5 } }],
    ["waiting", "fork", "Cache of harmonics", { inherited: { from: "root", messages: 5 } }],
    ["done", "subagent", "Find the callers", { role: "explore", color: "blue" }],
    ["failed", "subagent", "Check the golden rows", { role: "verify", color: "green" }],
    ["stopped", "fork", "Rewrite the chart", { inherited: { from: "root", messages: 5 } }],
    ["interrupted", "subagent", "Write the notes", { role: "release-notes", color: "pink" }],
    ["queued", "fork", "Station names in French", { inherited: { from: "root", messages: 5 } }],
    ["mate", "teammate", "Keeps the tests green", { role: "tester", color: "orange" }],
    ["below", "subagent", "Looks for allocations", { role: "explore", color: "blue", parent: "running" }],
  ];
  for (const [id, kind, title, more] of kinds) play.agent(id, kind, title, more);
  play
    .worktree("running", "offshoot/lazy-parser")
    .worktree("waiting", "offshoot/cache-of-harmonics")
    .emit("running", { type: "turn_started" }, { type: "changes_counted", changes: { files: 3, added: 41, removed: 12 } })
    .answer("running", "The index is read; now `Station`.", { id: "run", name: "Bash", input: { command: "cargo test table::", description: "Test the table" } })
    .output("running", "run", TERMINAL.split("\n").slice(0, 4).join("\n"))
    .emit("below", { type: "turn_started" }, { type: "model_waiting", reason: "the model's server is overloaded", attempt: 2, retry_in_ms: 25_000 })
    .emit("waiting", { type: "turn_started" })
    .answer("waiting", "I need the old cache's format.", { id: "curl", name: "Bash", input: { command: "curl -fsS https://tides.example.org/api/v2/harmonics?station=brest | jq '.[0]'" } })
    .request("waiting", {
      id: "req_1",
      call: "curl",
      tool: "Bash",
      access: { kind: "command", command: "curl -fsS https://tides.example.org/api/v2/harmonics?station=brest | jq '.[0]'" },
      input: JSON.stringify({ command: "curl -fsS https://tides.example.org/api/v2/harmonics?station=brest | jq '.[0]'" }),
      asker: [{ agent: "root", kind: "root", title: "root" }, { agent: "waiting", kind: "fork", title: "Cache of harmonics" }],
      isolated: true,
      directory: `${PROJECT}/.offshoot/worktrees/waiting`,
      suggested_rules: ["Bash(curl -fsS https://tides.example.org/*)"],
    })
    .ask("done", "Find every caller of Station::new.")
    .report("done", "**Result:** 3 callers\n\n- `src/table.rs:88`\n- `src/import.rs:12`\n- `tests/golden.rs:40`")
    .ask("failed", "Check that the golden rows are the same.")
    .emit("failed", { type: "turn_ended", outcome: { kind: "failed", code: "model", message: "The model's server answered 500 four times." } }, { type: "agent_ended", outcome: { kind: "failed", code: "model", message: "The model's server answered 500 four times." } })
    .emit("stopped", { type: "turn_started" }, { type: "agent_ended", outcome: { kind: "stopped" } })
    .ask("interrupted", "Write the release notes.")
    .answer("interrupted", "I look at what was merged.", { id: "log", name: "Bash", input: { command: "git log --oneline main" } })
    .emit("interrupted", { type: "turn_ended", outcome: { kind: "interrupted" } }, { type: "agent_ended", outcome: { kind: "interrupted" } })
    .ask("mate", "Keep the tests green.")
    .answer("mate", "All green; I wait.")
    .done("mate")
    .emit("root", { type: "shell_started", task: "sh_1", call: "call_1", command: "cargo watch -x 'test --workspace'", output_file: "/tmp/o" })
    .emit("root", { type: "input_received", input: { id: "in_q1", text: "And keep `Table::rows` as it is.", origin: "user" } })
    .writing("root", "The forks are at work. Meanwhile I read `tests/golden.rs`, which ");
  const summary = play.summary();
  return play.recording({
    sessions: [
      summary,
      { ...summary, id: "ses_2", title: "Why does the Brest station drift in spring, and only when the moon is near?", updated_at: new Date(Date.now() - 7_200_000).toISOString() },
      { ...summary, id: "ses_3", title: CHINESE, updated_at: new Date(Date.now() - 86_400_000 * 3).toISOString() },
      { ...summary, id: "ses_4", title: "Port the chart to SVG", updated_at: new Date(Date.now() - 86_400_000 * 40).toISOString() },
    ],
  });
}

/** Long names, long words, other scripts. */
export function texts(): Recording {
  const title = `${CHINESE} ${UNBROKEN}`;
  return new Play(title, `/home/ana/${"a-folder-with-a-long-name/".repeat(6)}潮汐`)
    .ask("root", `${ARABIC}\n\n${CHINESE}\n\n${UNBROKEN}`)
    .answer(
      "root",
      `${JAPANESE}\n\n${ARABIC}\n\n1. ${CHINESE}\n2. ${UNBROKEN}\n\n\`${UNBROKEN}\`\n\n\`\`\`\n${UNBROKEN}${UNBROKEN}\n${CHINESE}\n\`\`\`\n\n| ${CHINESE} | ${UNBROKEN} |\n|---|---|\n| a | b |`,
      { name: "Bash", input: { command: `printf '%s' '${UNBROKEN}' | tee /home/ana/${UNBROKEN}/潮汐.txt`, description: CHINESE }, result: { content: `${UNBROKEN}\n${CHINESE}\n${ARABIC}`, detail: { kind: "ran", exit: 0, confinement: "confined" } } },
      { name: "Read", input: { file_path: `/home/ana/${UNBROKEN}/潮汐.rs` }, result: CHINESE },
    )
    .agent("long", "fork", title, { role: `a-role-${UNBROKEN}`.slice(0, 64), color: "purple", inherited: { from: "root", messages: 3 } })
    .worktree("long", BRANCH)
    .emit("long", { type: "turn_started" }, { type: "changes_counted", changes: { files: 1234, added: 98_765, removed: 43_210 } })
    .agent("rtl", "subagent", ARABIC, { role: "مراجع", color: "teal", parent: "long" })
    .ask("rtl", ARABIC)
    .answer("rtl", ARABIC)
    .agent("deep", "subagent", JAPANESE, { parent: "rtl", role: "審査", color: "red" })
    .ask("deep", JAPANESE)
    .answer("deep", JAPANESE, { id: "ask", name: "Bash", input: { command: `rm -rf ${UNBROKEN}\u202e gpj.exe` } })
    .request("deep", {
      id: "req_long",
      call: "ask",
      tool: "Bash",
      access: { kind: "command", command: `rm -rf ${UNBROKEN}\u202e gpj.exe\u200b && echo ${CHINESE}` },
      asker: [{ agent: "root", kind: "root", title }, { agent: "long", kind: "fork", title }, { agent: "rtl", kind: "subagent", title: ARABIC }, { agent: "deep", kind: "subagent", title: JAPANESE }],
      directory: `/home/ana/${UNBROKEN}`,
      suggested_rules: [`Bash(rm -rf ${UNBROKEN}*)`],
    })
    .recording();
}

/** Output of every size and colour. */
export function outputs(): Recording {
  const stored = "blob_long";
  const ran = (content: string, exit: number) => ({ content, is_error: false, detail: { kind: "ran" as const, exit, confinement: "confined" } });
  return new Play("Outputs")
    .ask("root", "Run everything.")
    .answer("root", "Colours, then much.", { name: "Bash", input: { command: "cargo test" }, result: ran(TERMINAL, 101) })
    .answer("root", "A long log.", { name: "Bash", input: { command: "cat access.log" }, result: { ...ran(LONG_OUTPUT, 0), full: stored } })
    .answer("root", "One line.", { name: "Bash", input: { command: "cat one-line.json" }, result: ran(ONE_LINE(), 0) })
    .done("root")
    .recording({ blobs: { [stored]: `${LONG_OUTPUT}\n${LONG_OUTPUT}` } });
}

/** A session that has gone on for weeks: messages, and agents below. */
export function long(messages: number, agents: number): Recording {
  const play = new Play(`${messages.toLocaleString("en")} messages`);
  const turns = Math.ceil(messages / 4);
  for (let turn = 0; turn < turns; turn += 1) {
    play.ask("root", `Question ${turn + 1}: what about station ${turn % 300}?`);
    play.answer("root", turn % 9 === 0 ? MARKDOWN : `Station ${turn % 300} is read when it is asked for. I look at \`src/table.rs\`.`, { name: "Read", input: { file_path: `src/station_${turn % 300}.rs` }, result: `pub struct Station${turn % 300};` });
    play.answer("root", `Done with ${turn + 1}.`).done("root").wait(30);
  }
  for (let at = 0; at < agents; at += 1) {
    const id = `agent_${at}`;
    play.agent(id, at % 3 === 0 ? "fork" : "subagent", `Station ${at + 1}`, at % 3 === 0 ? {} : { role: "explore", color: ["blue", "green", "orange", "purple"][at % 4] ?? "blue", ...(at % 7 === 0 ? {} : { parent: `agent_${at - (at % 7)}` }) });
    play.ask(id, `Look at station ${at + 1}.`);
    if (at % 4 !== 0) play.report(id, `Station ${at + 1} is fine.`);
  }
  return play.recording();
}
