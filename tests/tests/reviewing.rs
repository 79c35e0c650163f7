//! An agent's changes reviewed: marks, rejections and comments, through the core with its log and its worktrees.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_protocol::{
    AgentId, AgentView, Command, DiffSide, FileDiff, Mark, MergeHow, MergeSelection, Origin, Passage, PermissionMode,
    Rejected, RejectedCode, RejectionState, ReviewWish,
};
use offshoot_tests::{Gate, Reply, Setup, World, in_fork, in_root};
use serde_json::json;

const LINES: usize = 40;

/// The sample file, some of its lines replaced.
fn text(replaced: &[(usize, &str)]) -> String {
    (1..=LINES).fold(String::new(), |text, n| {
        let line = replaced.iter().find(|(at, _)| *at == n);
        text + &line.map_or(format!("line {n}\n"), |(_, line)| format!("{line}\n"))
    })
}

/// The fork's work: two changes in one file, and its report, held back until the gate opens.
fn work(gate: &Gate) -> Vec<Reply> {
    vec![
        in_root()
            .when_told("begin")
            .call("Agent", json!({"prompt": "the task", "description": "fork", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("the task").when_told("the task").call("Bash", json!({
            "command": "sed -i -e 's/^line 5$/five/' -e 's/^line 30$/thirty/' long.txt && printf 'new\\n' > new.txt",
            "description": "edit"
        })),
        in_fork("the task").when_result("").gate(gate).text("Scope: it\nResult: edited"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ]
}

struct Review {
    world: World,
    fork: AgentId,
}

impl Review {
    /// A session whose fork has changed things and waits at the gate.
    async fn begun(gate: &Gate, more: Vec<Reply>) -> Self {
        let long: &'static str = Box::leak(text(&[]).into_boxed_str());
        let mut setup = Setup { files: vec![("long.txt", long)], ..Setup::default() };
        setup.settings.mode = PermissionMode::Bypass;
        let script: Vec<Reply> = work(gate).into_iter().chain(more).collect();
        let world = World::with(setup, script).await;
        world.say("begin").await;
        // The edits are made, and the report is asked for: nothing new is taken in before the gate opens.
        let asked =
            world.server.request_where(|request| request.mentions("<fork-directive>") && request.mentions("sed -i"));
        asked.await;
        let fork = world.agent("fork").await.id;
        Self { world, fork }
    }

    async fn finished(more: Vec<Reply>) -> Self {
        let gate = Gate::new();
        let review = Self::begun(&gate, more).await;
        gate.open();
        review.world.settled().await;
        review
    }

    async fn restart(self) -> Self {
        Self { world: self.world.restart().await, fork: self.fork }
    }

    async fn agent(&self) -> AgentView {
        self.world.agent("fork").await
    }

    async fn read(&self, path: &str) -> String {
        let folder = self.agent().await.worktree.unwrap().path;
        std::fs::read_to_string(format!("{folder}/{path}")).unwrap_or_default()
    }

    async fn write(&self, path: &str, text: &str) {
        let folder = self.agent().await.worktree.unwrap().path;
        std::fs::write(format!("{folder}/{path}"), text).unwrap();
    }

    async fn diff(&self, path: &str) -> FileDiff {
        // A look at everything first: nothing watches here.
        self.world.workbench.changes(&self.world.session, &self.fork).await.unwrap();
        self.world.workbench.file_diff(&self.world.session, &self.fork, path, true).await.unwrap()
    }

    async fn hash(&self, path: &str, hunk: usize) -> String {
        self.diff(path).await.hunks[hunk].hash.clone()
    }

    async fn wish(&self, wish: ReviewWish) -> Result<(), Rejected> {
        self.world.try_wish(Command::Review { agent: self.fork.clone(), wish }).await
    }

    async fn reject(&self, path: &str, hash: &str) -> Result<(), Rejected> {
        self.wish(ReviewWish::Reject { path: path.to_owned(), hash: hash.to_owned() }).await
    }
}

fn passage(side: DiffSide, line: u32, quoted: &str) -> Passage {
    Passage { path: "long.txt".into(), side, first: line, last: line, quoted: quoted.into(), hunk: None }
}

fn reminders(agent: &AgentView) -> Vec<&str> {
    let queue = agent.queue.iter().filter(|input| input.origin == Origin::Reminder);
    queue.map(|input| input.text.as_str()).collect()
}

#[tokio::test]
async fn a_rejected_change_goes_at_once_when_the_agent_is_at_rest_and_comes_back() {
    let review = Review::finished(Vec::new()).await;
    let hash = review.hash("long.txt", 1).await;
    review.reject("long.txt", &hash).await.unwrap();
    assert_eq!(review.read("long.txt").await, text(&[(5, "five")]));
    let agent = review.agent().await;
    assert_eq!(agent.review.rejections[0].state, RejectionState::Done);
    assert_eq!(agent.changes.unwrap().added, 2, "the count follows");
    let told = reminders(&agent);
    assert!(told[0].contains("turned down a change of yours") && told[0].contains("+thirty"), "{told:?}");

    let gone = review.reject("long.txt", &hash).await.unwrap_err();
    assert_eq!(gone.code, RejectedCode::Gone);

    let review = review.restart().await;
    let merge = review.agent().await.review.rejections[0].merge.clone();
    review.wish(ReviewWish::Unreject { merge }).await.unwrap();
    assert_eq!(review.read("long.txt").await, text(&[(5, "five"), (30, "thirty")]));
    assert_eq!(review.agent().await.review.rejections, []);
}

#[tokio::test]
async fn a_change_rejected_while_the_agent_works_goes_at_the_end_of_its_turn() {
    let gate = Gate::new();
    let review = Review::begun(&gate, Vec::new()).await;
    let (first, second, new) =
        (review.hash("long.txt", 0).await, review.hash("long.txt", 1).await, review.hash("new.txt", 0).await);
    for (path, hash) in [("long.txt", &first), ("long.txt", &second), ("new.txt", &new)] {
        review.reject(path, hash).await.unwrap();
    }
    assert_eq!(review.read("long.txt").await, text(&[(5, "five"), (30, "thirty")]), "it waits");
    let waiting = review.agent().await.review.rejections;
    assert!(waiting.iter().all(|rejection| rejection.state == RejectionState::Queued));
    // One is taken back while it waits, and one becomes another change.
    review.wish(ReviewWish::Unreject { merge: waiting[2].merge.clone() }).await.unwrap();
    review.write("long.txt", &text(&[(5, "five"), (30, "THIRTY")])).await;
    gate.open();
    review.world.settled().await;
    assert_eq!(review.read("long.txt").await, text(&[(30, "THIRTY")]));
    assert_eq!(review.read("new.txt").await, "new\n");
    let agent = review.agent().await;
    let states: Vec<_> = agent.review.rejections.iter().map(|rejection| &rejection.state).collect();
    assert!(matches!(states[..], [RejectionState::Done, RejectionState::Refused { .. }]), "{states:?}");
    assert_eq!(reminders(&agent).len(), 2, "the agent is told of both");
}

#[tokio::test]
async fn what_waits_to_be_taken_out_is_taken_out_after_a_restart() {
    let gate = Gate::new();
    let review = Review::begun(&gate, Vec::new()).await;
    let hash = review.hash("long.txt", 0).await;
    review.reject("long.txt", &hash).await.unwrap();
    let review = review.restart().await;
    assert_eq!(review.read("long.txt").await, text(&[(30, "thirty")]));
    assert_eq!(review.agent().await.review.rejections[0].state, RejectionState::Done);
    let merge = review.agent().await.review.rejections[0].merge.clone();
    review.wish(ReviewWish::Unreject { merge }).await.unwrap();
    assert_eq!(review.read("long.txt").await, text(&[(5, "five"), (30, "thirty")]));
}

#[tokio::test]
async fn comments_survive_a_restart_and_arrive_once_as_one_message() {
    let answer =
        in_fork("the task").when_told("I reviewed your changes and have 3 comments").text("Scope: it\nResult: mended");
    let review = Review::finished(vec![answer]).await;
    // On a changed line, on a line that is gone, and on one that nobody touched.
    for (passage, said) in [
        (passage(DiffSide::Now, 5, "five"), "Use a digit."),
        (passage(DiffSide::Base, 30, "line 30"), "Why did this go?"),
        (passage(DiffSide::Now, 20, "line 20"), "This one is to go, too."),
        (passage(DiffSide::Now, 21, "line 21"), "A mistake."),
    ] {
        review.wish(ReviewWish::Comment { passage, text: said.to_owned() }).await.unwrap();
    }
    let review = review.restart().await;
    let comments = review.agent().await.review.comments;
    assert_eq!(comments.len(), 4);
    assert_eq!((comments[1].passage.side, comments[1].passage.quoted.as_str()), (DiffSide::Base, "line 30"));
    assert_eq!(comments[0].base, review.agent().await.worktree.unwrap().base);
    let edit =
        |at: usize, said: &str| ReviewWish::EditComment { comment: comments[at].id.clone(), text: said.to_owned() };
    review.wish(edit(3, "")).await.unwrap();
    review.wish(edit(0, "Use the digit 5.")).await.unwrap();
    review.wish(ReviewWish::SendComments).await.unwrap();
    review.world.settled().await;
    let agent = review.agent().await;
    assert!(agent.review.comments.iter().all(|comment| comment.sent.is_some()));
    assert_eq!(review.wish(ReviewWish::SendComments).await.unwrap_err().code, RejectedCode::NotApplicable);
    assert_eq!(review.wish(edit(0, "too late")).await.unwrap_err().code, RejectedCode::Gone);
    let messages = review.world.messages(&review.fork).await;
    let texts: Vec<String> = messages.iter().map(offshoot_protocol::Message::text).collect();
    let sent: Vec<_> = texts.iter().filter(|text| text.contains("I reviewed your changes")).collect();
    assert_eq!(sent.len(), 1, "one message");
    for part in ["Use the digit 5.", "> line 30", "Why did this go?", "This one is to go, too."] {
        assert!(sent[0].contains(part), "{part} is not in {}", sent[0]);
    }
    assert!(!sent[0].contains("A mistake."));
    assert_eq!(texts.last().unwrap(), "Scope: it\nResult: mended", "the agent went on");
}

#[tokio::test]
async fn comments_come_back_when_their_message_is_taken_back_unread() {
    let gate = Gate::new();
    let review = Review::begun(&gate, Vec::new()).await;
    let wish = ReviewWish::Comment { passage: passage(DiffSide::Now, 5, "five"), text: "Use a digit.".into() };
    review.wish(wish).await.unwrap();
    review.wish(ReviewWish::SendComments).await.unwrap();
    let input = review.agent().await.review.comments[0].sent.clone().unwrap();
    review.world.wish(Command::WithdrawInput { agent: review.fork.clone(), input }).await;
    assert_eq!(review.agent().await.review.comments[0].sent, None);
    gate.open();
    review.world.settled().await;
}

#[tokio::test]
async fn a_mark_falls_with_its_own_lines_and_stays_whatever_else_happens() {
    let review = Review::finished(Vec::new()).await;
    let (first, second) = (review.hash("long.txt", 0).await, review.hash("long.txt", 1).await);
    let hashes = vec![first.clone(), second.clone()];
    review.wish(ReviewWish::Mark { hashes, mark: Mark::Viewed, on: true }).await.unwrap();
    // The second one changes, and a third appears far from both.
    review.write("long.txt", &text(&[(5, "five"), (18, "eighteen"), (30, "THIRTY")])).await;
    let marked = |agent: &AgentView, diff: &FileDiff| -> Vec<bool> {
        diff.hunks.iter().map(|hunk| agent.review.viewed.contains(&hunk.hash)).collect()
    };
    let diff = review.diff("long.txt").await;
    assert_eq!(marked(&review.agent().await, &diff), [true, false, false]);
    // A commit changes nothing that was looked at.
    let folder = review.agent().await.worktree.unwrap().path;
    review.world.repository.git_in(std::path::Path::new(&folder), &["commit", "--quiet", "--all", "-m", "more"]);
    let review = review.restart().await;
    let diff = review.diff("long.txt").await;
    assert_eq!(marked(&review.agent().await, &diff), [true, false, false]);
    review.wish(ReviewWish::Mark { hashes: vec![first], mark: Mark::Viewed, on: false }).await.unwrap();
    assert_eq!(marked(&review.agent().await, &diff), [false, false, false]);
}

#[tokio::test]
async fn what_was_accepted_comes_home_and_nothing_else() {
    let review = Review::finished(Vec::new()).await;
    let hashes = vec![review.hash("long.txt", 1).await, review.hash("new.txt", 0).await, "fallen".to_owned()];
    review.wish(ReviewWish::Mark { hashes, mark: Mark::Accepted, on: true }).await.unwrap();
    // Turning one down takes its mark away.
    let new = review.hash("new.txt", 0).await;
    review.reject("new.txt", &new).await.unwrap();
    let (workbench, session) = (&review.world.workbench, &review.world.session);
    let preview =
        workbench.merge_preview(session, std::slice::from_ref(&review.fork), MergeSelection::Accepted).await.unwrap();
    assert_eq!((preview.parts[0].hunks, preview.parts[0].of), (1, 2));
    assert_eq!(preview.unknown, Vec::<String>::new());
    workbench.merge_apply(session, &preview.merge, false, MergeHow::Apply).await.unwrap();
    assert_eq!(review.world.repository.read("long.txt"), text(&[(30, "thirty")]));
    assert_eq!(review.world.repository.git(&["status", "--porcelain"]), " M long.txt");
}
