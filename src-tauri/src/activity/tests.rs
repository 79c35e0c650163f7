use offshoot_protocol::{
    AgentCreated, AgentKind, BlobHash, Block, CallId, Input, InputId, InputSource, Message, Origin, PermissionMode,
    RawJson, Timestamp,
};

use super::*;

/// Events as a core would record them, one after another.
struct Log {
    activity: Activity,
    seq: u64,
}

impl Log {
    fn new() -> Self {
        let mut log = Self { activity: Activity::new("s".into()), seq: 0 };
        log.create("root", AgentKind::Root, "Session");
        log
    }

    fn tell(&mut self, agent: &str, body: EventBody) -> Option<String> {
        self.seq += 1;
        let event =
            Event { seq: self.seq, at: Timestamp::UNIX_EPOCH, session: "s".into(), agent: Some(agent.into()), body };
        self.activity.take(&event).map(|line| format!("{}: {}", line.name, line.text))
    }

    fn create(&mut self, agent: &str, kind: AgentKind, title: &str) -> Option<String> {
        let created = AgentCreated {
            kind,
            parent: (kind != AgentKind::Root).then(|| "root".into()),
            call: None,
            role: None,
            title: title.into(),
            color: None,
            directory: "/p".into(),
            model: "m".into(),
            head: BlobHash(String::new()),
            background: true,
            mode: PermissionMode::Default,
            max_turns: None,
            allow: Vec::new(),
            deny: Vec::new(),
            inherited: None,
        };
        self.tell(agent, EventBody::AgentCreated(Box::new(created)))
    }

    fn say(&mut self, agent: &str, blocks: Vec<Block>) -> Option<String> {
        let message = Message { role: MessageRole::Assistant, blocks };
        self.tell(agent, EventBody::MessageAppended { index: 0, message, inputs: Vec::new() })
    }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into(), origin: Origin::Model }
}

fn call(id: &str, command: &str) -> Block {
    let input = RawJson(serde_json::json!({"command": command}).to_string());
    Block::Call { id: id.into(), name: "Bash".into(), input }
}

fn finished() -> EventBody {
    EventBody::TurnEnded { outcome: TurnOutcome::Finished }
}

fn completed() -> EventBody {
    EventBody::AgentEnded { outcome: AgentOutcome::Completed { report: "r".into() } }
}

fn notification(id: &str, of: &str) -> Input {
    let source = Some(InputSource { task: of.into() });
    Input { id: InputId(id.into()), text: "ended".into(), origin: Origin::Notification, source }
}

#[test]
fn lines_begin_with_the_agents_name_and_names_are_unique() {
    let mut log = Log::new();
    assert_eq!(log.create("a", AgentKind::Fork, "fix parser").unwrap(), "fix parser: starts as fork of root");
    assert_eq!(log.create("b", AgentKind::Fork, "fix parser").unwrap(), "fix parser (2): starts as fork of root");
    log.say("b", vec![text("Looking\nnow"), call("c1", "ls")]);
    assert_eq!(log.tell("b", EventBody::CallStarted { call: CallId("c1".into()) }).unwrap(), "fix parser (2): Bash ls");
}

#[test]
fn the_answer_is_the_roots_last_text_and_no_line() {
    let mut log = Log::new();
    log.create("a", AgentKind::Fork, "x");
    log.tell("root", EventBody::TurnStarted);
    assert_eq!(log.say("root", vec![text("First I look."), call("c", "ls")]).unwrap(), "root: First I look.");
    assert_eq!(log.say("root", vec![text("Done:\n\n- a")]), None);
    log.say("a", vec![text("A report.")]);
    assert_eq!(log.activity.answer(), "Done:\n\n- a");
}

#[test]
fn a_run_is_over_only_when_every_report_has_been_taken_in() {
    let mut log = Log::new();
    log.create("a", AgentKind::Fork, "x");
    log.tell("root", EventBody::TurnStarted);
    log.tell("a", EventBody::TurnStarted);
    log.tell("root", finished());
    assert!(log.activity.is_answered() && !log.activity.is_over(), "the fork is at work");
    log.tell("a", completed());
    log.tell("root", EventBody::InputReceived { input: notification("i", "a") });
    assert!(!log.activity.is_over(), "the notification waits");
    log.tell("root", EventBody::TurnStarted);
    let message = Message::user("ended", Origin::Notification);
    log.tell("root", EventBody::MessageAppended { index: 1, message, inputs: vec![InputId("i".into())] });
    assert!(!log.activity.is_over(), "the root is at work");
    log.tell("root", finished());
    assert!(log.activity.is_over());
}

#[test]
fn denials_name_who_wanted_what() {
    let mut log = Log::new();
    log.create("a", AgentKind::Fork, "deploy");
    log.say("a", vec![call("c", "rm -rf build")]);
    let request = PermissionRequest {
        id: "r".into(),
        asker: Vec::new(),
        role: None,
        directory: "/p".into(),
        isolated: false,
        call: "c".into(),
        tool: "Bash".into(),
        input: RawJson("{}".into()),
        access: Access::Command { command: "rm -rf build".into() },
        reason: "no rule".into(),
        suggested_rules: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
    };
    log.tell("a", EventBody::CallStarted { call: "c".into() });
    log.tell("a", EventBody::PermissionRequested { request });
    let answer = Answer::Deny { reason: None };
    let line = log.tell("a", EventBody::PermissionDecided { request: "r".into(), answer, by: DecidedBy::Headless });
    assert_eq!(line.unwrap(), "deploy: denied, because nobody can be asked here: Bash rm -rf build");
    let result = CallResult {
        content: r#"{"code":"permission_denied","message":"no"}"#.into(),
        is_error: true,
        code: Some(DENIED.into()),
        full: None,
        detail: None,
        duration_ms: 0,
    };
    let line = log.tell("a", EventBody::CallEnded { call: "c".into(), result });
    assert_eq!(line.unwrap(), "deploy: the call failed: no");
    assert_eq!(log.activity.denied(), ["deploy: Bash rm -rf build"]);
    log.activity.begin_run();
    assert!(log.activity.denied().is_empty());
}

#[test]
fn lines_are_one_line_and_bounded() {
    let mut log = Log::new();
    let words = format!("a\nb{}", "x".repeat(1000));
    let line = log.say("root", vec![text(&words), call("c", "ls")]).unwrap();
    assert!(line.starts_with("root: a bxx") && line.ends_with('…') && line.chars().count() <= WIDTH + 6);
}

#[test]
fn only_a_turn_limit_is_a_limit() {
    let failed = |code| TurnOutcome::Failed { code, message: String::new() };
    assert!(is_limit(&failed(FailureCode::TurnLimit)));
    assert!(!is_limit(&failed(FailureCode::Model)) && !is_limit(&TurnOutcome::Finished));
}

#[test]
fn reminders_alone_keep_nobody_at_work() {
    let mut log = Log::new();
    log.tell("root", EventBody::TurnStarted);
    log.tell("root", finished());
    let reminder = Input { id: InputId("i".into()), text: "roles".into(), origin: Origin::Reminder, source: None };
    log.tell("root", EventBody::InputReceived { input: reminder });
    assert!(log.activity.is_over());
}
