//! Sequences of events and what they add up to.

use offshoot_protocol::*;

use super::Fold;
use crate::cache::{Caching, Sent};

/// A log under construction: numbers and dates its events.
struct Story {
    fold: Fold,
    seq: u64,
}

impl Story {
    fn new() -> Self {
        let mut story = Self { fold: Fold::new(SessionId::from("s")), seq: 0 };
        story.tell(
            None,
            EventBody::SessionCreated { project: "/p".into(), title: "t".into(), mode: PermissionMode::Default },
        );
        story.create("root", AgentKind::Root, None);
        story
    }

    fn tell(&mut self, agent: Option<&str>, body: EventBody) {
        self.seq += 1;
        let at = Timestamp::from_second(i64::try_from(self.seq).unwrap()).unwrap();
        self.fold.apply(&Event {
            seq: self.seq,
            at,
            session: SessionId::from("s"),
            agent: agent.map(AgentId::from),
            body,
        });
    }

    fn create(&mut self, id: &str, kind: AgentKind, inherited: Option<u32>) {
        let created = AgentCreated {
            kind,
            parent: (kind != AgentKind::Root).then(|| AgentId::from("root")),
            call: None,
            role: None,
            title: id.into(),
            color: None,
            directory: "/p".into(),
            model: "m".into(),
            head: BlobHash::from("h"),
            background: kind == AgentKind::Fork,
            mode: PermissionMode::Default,
            max_turns: None,
            allow: vec![],
            deny: vec![],
            inherited: inherited.map(|messages| Inherited { from: AgentId::from("root"), messages }),
        };
        self.tell(Some(id), EventBody::AgentCreated(Box::new(created)));
    }

    fn says(&mut self, agent: &str, message: Message) {
        let index = self.fold.transcript(&AgentId::from(agent)).len();
        self.tell(Some(agent), EventBody::MessageAppended { index, message, inputs: vec![] });
    }

    fn agent(&self, id: &str) -> &AgentView {
        self.fold.agent(&AgentId::from(id)).unwrap()
    }
}

fn call(id: &str) -> Block {
    Block::Call { id: CallId::from(id), name: "Read".into(), input: RawJson(r#"{"file_path":"a"}"#.into()) }
}

fn step(asked: Option<Asked>, usage: Usage) -> EventBody {
    EventBody::StepEnded(StepEnded {
        stop_reason: "end_turn".into(),
        usage,
        duration_ms: 1,
        begun_ms: None,
        asked,
        missed: None,
    })
}

fn result(content: &str) -> CallResult {
    CallResult { content: content.into(), is_error: false, code: None, full: None, detail: None, duration_ms: 1 }
}

fn request(id: &str, agent: &str, call: &str) -> PermissionRequest {
    PermissionRequest {
        id: RequestId::from(id),
        asker: vec![Asker { agent: AgentId::from(agent), kind: AgentKind::Fork, title: agent.into() }],
        role: None,
        directory: "/p".into(),
        isolated: false,
        call: CallId::from(call),
        tool: "Bash".into(),
        input: RawJson("{}".into()),
        access: Access::Command { command: "x".into() },
        reason: "no rule".into(),
        suggested_rules: vec![],
        created_at: Timestamp::UNIX_EPOCH,
    }
}

#[test]
fn results_are_stored_once_and_come_in_the_order_of_the_calls() {
    let mut story = Story::new();
    story.says("root", Message { role: MessageRole::Assistant, blocks: vec![call("a"), call("b")] });
    for (id, text) in [("b", "second"), ("a", "first")] {
        story.tell(Some("root"), EventBody::CallStarted { call: CallId::from(id) });
        story.tell(Some("root"), EventBody::CallEnded { call: CallId::from(id), result: result(text) });
    }
    let root = AgentId::from("root");
    assert_eq!(story.fold.unanswered_calls(&root).len(), 2);
    let rest = Message::user("and this", Origin::User);
    let calls = vec![CallId::from("a"), CallId::from("b")];
    story.tell(Some("root"), EventBody::ResultsAppended { index: 1, calls, message: rest, inputs: vec![] });
    let transcript = story.fold.transcript(&root);
    let contents: Vec<String> = transcript.last().unwrap().blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(contents[0].contains("first") && contents[1].contains("second") && contents[2].contains("and this"));
    assert!(story.fold.unanswered_calls(&root).is_empty());
    assert_eq!(story.agent("root").activity, "Read a");
}

#[test]
fn a_fork_shares_its_parents_messages_up_to_the_point() {
    let mut story = Story::new();
    story.says("root", Message::user("one", Origin::User));
    story.says("root", Message::user("two", Origin::User));
    story.create("fork", AgentKind::Fork, Some(1));
    story.says("fork", Message::user("directive", Origin::Directive));
    story.says("root", Message::user("three", Origin::User));
    let texts = |id: &str| {
        let conversation = story.fold.conversation(&AgentId::from(id), None, 99).unwrap();
        conversation.messages.iter().map(Message::text).collect::<Vec<_>>()
    };
    assert_eq!(texts("fork"), ["one", "directive"]);
    assert_eq!(texts("root"), ["one", "two", "three"]);
    assert_eq!(story.agent("fork").state, AgentState::Queued);
}

#[test]
fn an_agent_with_two_pending_requests_waits_until_both_are_answered() {
    let mut story = Story::new();
    story.create("fork", AgentKind::Fork, None);
    story.tell(Some("fork"), EventBody::TurnStarted);
    for (id, call) in [("r1", "a"), ("r2", "b")] {
        story.tell(Some("fork"), EventBody::CallStarted { call: CallId::from(call) });
        story.tell(Some("fork"), EventBody::PermissionRequested { request: request(id, "fork", call) });
    }
    assert_eq!(story.agent("fork").state, AgentState::WaitingForPermission);
    let decided =
        |id: &str, answer| EventBody::PermissionDecided { request: RequestId::from(id), answer, by: DecidedBy::User };
    story.tell(Some("fork"), decided("r1", Answer::AllowOnce));
    assert_eq!(story.agent("fork").state, AgentState::WaitingForPermission);
    story.tell(Some("fork"), decided("r2", Answer::AllowForSession { rules: vec!["Bash(x)".into()] }));
    assert_eq!(story.agent("fork").state, AgentState::Running);
    assert!(story.fold.view.requests.is_empty());
    assert_eq!(story.fold.grants.len(), 1);
}

#[test]
fn a_queued_input_leaves_the_queue_when_a_message_contains_it() {
    let mut story = Story::new();
    let input = |id: &str| Input { id: InputId::from(id), text: id.into(), origin: Origin::User, source: None };
    for id in ["i1", "i2", "i3"] {
        story.tell(Some("root"), EventBody::InputReceived { input: input(id) });
    }
    story.tell(Some("root"), EventBody::InputWithdrawn { input: InputId::from("i2") });
    let message = Message::user("i1", Origin::User);
    story.tell(Some("root"), EventBody::MessageAppended { index: 0, message, inputs: vec![InputId::from("i1")] });
    let queue: Vec<&str> = story.agent("root").queue.iter().map(|input| input.text.as_str()).collect();
    assert_eq!(queue, ["i3"]);
}

#[test]
fn a_finished_child_that_goes_on_counts_its_steps_anew() {
    let mut story = Story::new();
    story.create("fork", AgentKind::Fork, None);
    let step = || step(None, Usage::default());
    story.tell(Some("fork"), EventBody::TurnStarted);
    story.tell(Some("fork"), step());
    story.tell(Some("fork"), EventBody::AgentEnded { outcome: AgentOutcome::Stopped });
    assert_eq!(story.agent("fork").state, AgentState::Stopped);
    story.tell(Some("fork"), EventBody::TurnStarted);
    story.tell(Some("fork"), step());
    assert_eq!(story.fold.steps_of_run(&AgentId::from("fork")), 1);
    assert_eq!(story.agent("fork").steps, 2);
    assert_eq!(story.agent("fork").state, AgentState::Running);
}

#[test]
fn a_summary_costs_something_and_keeps_the_conversation_cached_but_nothing_builds_on_it() {
    let asked = || Some(Asked { model: "m".into(), seller: Seller::Provider, head: "h".into() });
    let mut story = Story::new();
    story.tell(Some("root"), EventBody::TurnStarted);
    story.says("root", Message::user("a", Origin::User));
    story.tell(Some("root"), step(asked(), Usage { cache_write: 10_000, ..Usage::default() }));
    story.says("root", Message { role: MessageRole::Assistant, blocks: vec![call("a")] });
    story.tell(Some("root"), EventBody::CompactionStarted { trigger: CompactionTrigger::Manual });
    let summed_up = Usage { cache_read: 10_000, cache_write: 3_000, output: 70, ..Usage::default() };
    story.tell(Some("root"), step(asked(), summed_up));
    story.tell(Some("root"), EventBody::CompactionFailed { message: "The summary is empty.".into() });
    assert_eq!((story.agent("root").spending[0].requests, story.agent("root").usage.output), (2, 70));

    let root = AgentId::from("root");
    let transcript = story.fold.transcript(&root);
    let now = |second, cache_read| Sent {
        head: "h".into(),
        transcript: transcript.clone(),
        at: Timestamp::from_second(second).unwrap(),
        begun: Timestamp::from_second(second).unwrap(),
        usage: Usage { cache_read, ..Usage::default() },
    };
    let missed = |now: &Sent| story.fold.missed(&root, now, Caching::Marked { minimum: 1024 });
    // What the summary's request wrote ends in its instruction, which no other request has.
    assert_eq!(missed(&now(200, 10_000)), None);
    // More than five minutes after the step, less after the summary.
    let lost = |reason| Some(CacheMiss { tokens: 10_000, reason });
    assert_eq!(missed(&now(306, 0)), lost(MissReason::NotKept));
    assert_eq!(missed(&now(400, 0)).map(|miss| matches!(miss.reason, MissReason::Expired { .. })), Some(true));
}
